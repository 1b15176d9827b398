/** Tool definitions as the APIs of AI models take them, and the names that tools bear there. */
import * as z from "zod";
import { type Effect, effectOf, modelNameOf } from "./effects.ts";
import { jsonSchemaSchema, type ToolDescription } from "./tool.ts";

/** `openai`: Chat Completions; `openai-responses`: the Responses API, whose functions are flat. */
export const TOOL_FORMATS = ["anthropic", "openai", "openai-responses", "mcp"] as const;
export const toolFormatSchema = z.enum(TOOL_FORMATS);
export type ToolFormat = z.infer<typeof toolFormatSchema>;

/** A tool and what a model calls it. */
export interface NamedTool extends ToolDescription {
  model_name: string;
}

const named = { name: z.string(), description: z.string() };

/** Anthropic, Messages API. */
export const anthropicToolSchema = z.strictObject({ ...named, input_schema: jsonSchemaSchema });

/** OpenAI, Chat Completions, and all that copy it. */
export const openaiToolSchema = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({ ...named, parameters: jsonSchemaSchema }),
});

/** OpenAI, Responses. Not `strict`: that allows no optional parameter. */
export const openaiResponsesToolSchema = z.strictObject({
  type: z.literal("function"),
  ...named,
  parameters: jsonSchemaSchema,
  strict: z.literal(false),
});

/** Model Context Protocol, `tools/list`. */
export const mcpToolSchema = z.strictObject({
  ...named,
  inputSchema: jsonSchemaSchema,
  annotations: z.strictObject({
    readOnlyHint: z.boolean(),
    destructiveHint: z.boolean(),
    idempotentHint: z.boolean(),
    openWorldHint: z.boolean(),
  }),
});

export const toolDefinitionSchema = z.union([
  anthropicToolSchema,
  openaiToolSchema,
  openaiResponsesToolSchema,
  mcpToolSchema,
]);
export type ToolDefinition = z.infer<typeof toolDefinitionSchema>;

/** What OpenAI takes of a function's description, in characters. */
const OPENAI_DESCRIPTION_CHARS = 1024;

/** One tool in the shape of one API. */
export function toolDefinition(tool: NamedTool, format: ToolFormat): ToolDefinition {
  const { model_name: name, description } = tool;
  const schema = inputSchemaOf(tool.input_schema);
  const short = cut(description, OPENAI_DESCRIPTION_CHARS);
  switch (format) {
    case "anthropic":
      return { name, description, input_schema: schema };
    case "openai":
      return { type: "function", function: { name, description: short, parameters: schema } };
    case "openai-responses":
      return { type: "function", name, description: short, parameters: schema, strict: false };
    case "mcp":
      return { name, description, inputSchema: schema, annotations: annotationsOf(effectOf(tool.name)) };
  }
}

/** Hints of the Model Context Protocol; they say no more than the effect does, which the gate enforces. */
function annotationsOf(effect: Effect): z.infer<typeof mcpToolSchema>["annotations"] {
  const readOnlyHint = effect === "read";
  return {
    readOnlyHint,
    destructiveHint: !readOnlyHint,
    idempotentHint: readOnlyHint,
    openWorldHint: effect === "execute",
  };
}

/** What the APIs of models take as a name. */
const MODEL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * What each tool of a device is called by models, by its own name: `local_bash` for Bash, the own name of others where
 * the APIs take it. Two tools never share one, and the same tools always get the same ones. All tools of the device
 * must be given, so that a name does not depend on who asks.
 */
export function modelNames(tools: Iterable<string>): ReadonlyMap<string, string> {
  const own = [...new Set(tools)].sort();
  const taken = new Set(own.filter((name) => MODEL_NAME.test(name)));
  const names = new Map<string, string>();
  for (const name of own) {
    const wanted = modelNameOf(name) ?? validName(name);
    const free = wanted === name || !taken.has(wanted) ? wanted : distinctName(name, wanted, taken);
    taken.add(free);
    names.set(name, free);
  }
  return names;
}

function validName(name: string): string {
  if (MODEL_NAME.test(name)) return name;
  return name.replace(/[^a-zA-Z0-9_-]+/g, "_").slice(0, 64) || "_";
}

function distinctName(name: string, wanted: string, taken: ReadonlySet<string>): string {
  for (let attempt = 0; ; attempt++) {
    const distinct = `${wanted.slice(0, 55)}_${hashOf(`${name}#${attempt}`)}`;
    if (!taken.has(distinct)) return distinct;
  }
}

/** FNV-1a, 32 bits, as eight hex digits: it keeps names apart, and protects nothing. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}

/** Keys that the APIs refuse at the top of a schema. What they would say is checked on the device all the same. */
const NOT_AT_TOP = [
  "$schema",
  "$id",
  "$anchor",
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "enum",
  "if",
  "then",
  "else",
];

/** An object schema as all APIs take it. */
function inputSchemaOf(schema: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(schema).filter(([key]) => !NOT_AT_TOP.includes(key));
  const { type: _, properties, ...rest } = withoutIntegerBounds(Object.fromEntries(kept)) as typeof schema;
  return { type: "object", properties: properties ?? {}, ...rest };
}

/** A schema without the bounds of JavaScript's integers, which say nothing to a model. */
function withoutIntegerBounds(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutIntegerBounds);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([key, value]) =>
      !(key === "maximum" && value === Number.MAX_SAFE_INTEGER) &&
      !(key === "minimum" && value === Number.MIN_SAFE_INTEGER),
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutIntegerBounds(value)]));
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text
    .slice(0, max - 1)
    .toWellFormed()
    .replace(/\s+\S*$/, "")}…`;
}
