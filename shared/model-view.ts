/** A device's tools as shown to a model: one function for every format and surface. */
import { ALWAYS, NEEDS, UNLESS } from "./built-in-tools.ts";
import { modelNameOf } from "./effects.ts";
import type { GrantScope } from "./grant.ts";
import { modelNames, type ToolNaming } from "./model-names.ts";
import { modelSchema } from "./model-schema.ts";
import type { ToolDescription } from "./tool.ts";
import { DEFAULT_FAMILIES, type Family, familyOf } from "./tool-families.ts";

/** A tool as a model sees it. */
export interface ModelTool {
  /** The device's own name for it. */
  name: string;
  /** What models call it. */
  model_name: string;
  title?: string;
  description: string;
  input_schema: Record<string, unknown>;
  output_schema?: Record<string, unknown>;
}

const DONE_BY: ReadonlyMap<string, string> = new Map(Object.entries(UNLESS));
const NEEDED: ReadonlyMap<string, string> = new Map(Object.entries(NEEDS));

export interface ModelViewOptions {
  naming?: ToolNaming | undefined;
  /** If absent, all. */
  families?: readonly string[] | undefined;
}

/** What a connection wants to be shown. */
export interface WantedView {
  naming?: ToolNaming | undefined;
  /** If absent, those of the grant. */
  families?: readonly Family[] | undefined;
  /** Families besides those. */
  more?: readonly Family[] | undefined;
}

/** What a model is shown, and the families of which it could be shown more. */
export interface OfferedTools {
  tools: ModelTool[];
  others: Family[];
}

/** The tools of the families that a connection or else its grant chose. */
export function offeredTools(
  announced: readonly ToolDescription[],
  mayCall: (tool: string) => boolean,
  grant: Pick<GrantScope, "tool_families">,
  { naming, families, more = [] }: WantedView = {},
): OfferedTools {
  const chosen = [...(families ?? grant.tool_families ?? DEFAULT_FAMILIES), ...more];
  const all = shownTools(announced, mayCall, undefined).filter((tool) => !isIn(chosen, tool));
  const others = new Set(all.map(familyOf));
  return { tools: modelView(announced, mayCall, { naming, families: chosen }), others: [...others] };
}

/**
 * The announced tools that a model is shown: those of the families that it may call and that can work there, under their
 * model names, with the parameters that matter to a model. In the order of the manifest.
 */
export function modelView(
  announced: readonly ToolDescription[],
  mayCall: (tool: string) => boolean,
  { naming, families }: ModelViewOptions = {},
): ModelTool[] {
  const tools = new Map(announced.map((tool) => [tool.name, tool]));
  const names = modelNames(tools.keys(), naming);
  return shownTools(announced, mayCall, families)
    .flatMap((name) => tools.get(name) ?? [])
    .map((tool) => viewOf(tool, names));
}

function shownTools(
  announced: readonly ToolDescription[],
  mayCall: (tool: string) => boolean,
  families: readonly string[] | undefined,
): string[] {
  // Of two with one name the last counts.
  const tools = new Map(announced.map((tool) => [tool.name, tool]));
  const open = new Set(
    [...tools.values()]
      .filter(({ name, unavailable, model }) => unavailable === undefined && !model?.hidden && mayCall(name))
      .map(({ name }) => name),
  );
  const isUsable = (name: string): boolean => {
    const other = NEEDED.get(name);
    return open.has(name) && (other === undefined || isUsable(other));
  };
  const chosen = new Set([...open].filter((name) => isIn(families, name) && isUsable(name)));
  return [...chosen].filter((name) => !chosen.has(DONE_BY.get(name) ?? ""));
}

function isIn(families: readonly string[] | undefined, tool: string): boolean {
  return families === undefined || Object.hasOwn(ALWAYS, tool) || families.includes(familyOf(tool));
}

function viewOf(tool: ToolDescription, names: ReadonlyMap<string, string>): ModelTool {
  const { name, title, output_schema } = tool;
  const seen = {
    ...{ name, model_name: names.get(name) ?? name },
    ...(title !== undefined && { title }),
    ...(output_schema && { output_schema }),
  };
  // Leave others' descriptions alone: a word in backticks need not be a tool of this device.
  if (modelNameOf(name) === undefined)
    return { ...seen, description: tool.description, input_schema: modelSchema(tool.input_schema) };
  return {
    ...seen,
    description: inNames(tool.description, names),
    input_schema: ownSchema(tool, names),
  };
}

/** Replaces tool names in backticks, such as `\`Bash\``, by the names that the model knows. */
function inNames(text: string, names: ReadonlyMap<string, string>): string {
  return text.replace(/`(\w+)`/g, (marked, name: string) => names.get(name) ?? marked);
}

/** Keywords that the device checks itself, with an error that says more than a bound would. */
const CHECKED_THERE = new Set([
  ...["additionalProperties", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"],
  ...["pattern", "format", "exclusiveMinimum"],
]);

/** The input schema of a built-in tool: only the listed parameters, with short descriptions. */
function ownSchema(
  { input_schema, model = {} }: ToolDescription,
  names: ReadonlyMap<string, string>,
): Record<string, unknown> {
  const { omit = [], require = [] } = model;
  const { properties = {}, required = [] } = input_schema as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  const listed = Object.entries(properties).filter(([parameter]) => !omit.includes(parameter));
  const needed = [...new Set([...required, ...require])];
  return modelSchema({
    properties: Object.fromEntries(listed.map(([parameter, schema]) => [parameter, brief(schema, names)])),
    required: needed,
  });
}

/** What is said more briefly to a model than to people: it knows paths, and what is false unless said otherwise. */
const BRIEFLY: readonly (readonly [string, string])[] = [
  ["Absolute or relative path", "Path"],
  [" (default false)", ""],
];

function brief(schema: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(schema)) return schema.map((one) => brief(one, names));
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(([key]) => !CHECKED_THERE.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => [
      key,
      key === "description" ? briefly(inNames(String(value), names)) : brief(value, names),
    ]),
  );
}

function briefly(text: string): string {
  return BRIEFLY.reduce((shorter, [long, short]) => shorter.replace(long, short), text);
}
