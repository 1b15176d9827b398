/** docs/tools.md, made from the tools themselves: what a device announces of them, in tables. */
import { EFFECTS, type Effect } from "@matrx/shared/effects.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import type { ToolDescription } from "@matrx/shared/tool.ts";
import { BYTE_UNITS, inUnits, TIME_UNITS } from "./units.ts";

type Schema = Record<string, unknown>;

const HEAD = `# Tools

What our agent can do on a machine: \`GET /v1/devices/DEVICE/tools\` returns the same for programs, as JSON Schema. Call
a tool by its name or by its \`local_*\` alias (\`local_bash\` is \`Bash\`). Parameters not listed here are refused by
name. Models are shown less: see [protocol.md](protocol.md#tools-for-models). A result larger than ${inUnits(LIMITS.resultFrameBytes, BYTE_UNITS)} is refused
as \`PAYLOAD_TOO_LARGE\`; when a tool cuts its output before that, it says so, and how to see more. Paths are absolute, or
relative to the session's working directory.

This page is generated from the tools' schemas: \`UPDATE_DOCS=1 npx vitest run --project node test/docs\` updates it.
`;

const MEANINGS: Readonly<Record<Effect, string>> = {
  read: "They change nothing, and may run again after a connection breaks.",
  write: "They change files. Each call runs at most once.",
  execute: "They run or stop programs, show something on the screen, or delete. Each call runs at most once.",
};

/** The page for these tools, in order of their names. */
export function toolsPage(tools: readonly ToolDescription[]): string {
  const sorted = tools.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return [
    HEAD,
    table(
      ["tool", "effect", "parameters", "time limit"],
      sorted.map((tool) => [
        `[\`${tool.name}\`](#${tool.name.toLowerCase()})`,
        tool.effect,
        parametersOf(tool).map(shortName).join(", "),
        timeLimit(tool),
      ]),
    ),
    "",
    "A call's own `timeout_ms` applies in addition to the time limit. `*` marks required parameters.",
    "",
    ...EFFECTS.flatMap((effect) => [
      `## Effect: ${effect}\n`,
      `${MEANINGS[effect]}\n`,
      ...sorted.filter((tool) => tool.effect === effect).map(section),
    ]),
  ].join("\n");
}

interface Parameter {
  name: string;
  schema: Schema;
  required: boolean;
}

function parametersOf({ input_schema }: { input_schema: Schema }): Parameter[] {
  const { properties = {}, required = [] } = input_schema as { properties?: Schema; required?: string[] };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema: schema as Schema,
    required: required.includes(name),
  }));
}

function section(tool: ToolDescription): string {
  const rows = parametersOf(tool).flatMap((parameter) => rowsOf(parameter, ""));
  const parts = [
    `### ${tool.name}`,
    plain(tool.description),
    tool.details === undefined ? "" : plain(tool.details),
    rows.length > 0 ? table(["parameter", "type", "limits", "meaning"], rows) : "It takes no parameters.",
    forModels(tool),
    `Time limit: ${timeLimit(tool)}.`,
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function forModels({ model: { omit = [], require = [] } = {} }: ToolDescription): string {
  const named = (parameters: readonly string[]) => parameters.map((name) => `\`${name}\``).join(", ");
  return [
    ...(omit.length > 0 ? [`Not listed to models: ${named(omit)}.`] : []),
    ...(require.length > 0 ? [`Models must give ${named(require)}.`] : []),
  ].join(" ");
}

/** One row, and one more for each field of the objects in a list. */
function rowsOf({ name, schema, required }: Parameter, above: string): string[][] {
  const path = `${above}${name}`;
  const row = [
    `\`${path}\`${required ? "*" : ""}`,
    typeOf(schema),
    limitsOf(schema),
    plain(String(schema.description ?? "")),
  ];
  const items = schema.items as Schema | undefined;
  const inner = items?.properties ? parametersOf({ input_schema: items }) : [];
  return [row, ...inner.flatMap((parameter) => rowsOf(parameter, `${path}[].`))];
}

function typeOf({ type, enum: values, items, anyOf }: Schema): string {
  if (Array.isArray(values)) return values.map((value) => `\`${value}\``).join(", ");
  if (Array.isArray(anyOf)) return anyOf.map((choice) => typeOf(choice as Schema)).join(" or ");
  if (type === "array") return `list of ${typeOf((items ?? {}) as Schema)}`;
  return String(type ?? "anything");
}

function limitsOf(schema: Schema): string {
  const said = [
    range(schema.minimum, schema.maximum, ""),
    range(schema.minLength, schema.maxLength, " characters"),
    range(schema.minItems, schema.maxItems, " entries"),
    patternOf(schema),
    schema.default === undefined ? "" : `else ${code(JSON.stringify(schema.default))}`,
  ];
  return said.filter(Boolean).join("; ");
}

/** A date's pattern is a line of signs that nobody reads. */
function patternOf({ format, pattern }: Schema): string {
  if (format === "date-time") return "date and time as in RFC 3339";
  return pattern === undefined ? "" : code(String(pattern));
}

/** The bounds of JavaScript's whole numbers say nothing, and one character at least is what a text has. */
function range(least: unknown, most: unknown, unit: string): string {
  const from = least === undefined || Number(least) === Number.MIN_SAFE_INTEGER ? undefined : least;
  const to = most === undefined || Number(most) === Number.MAX_SAFE_INTEGER ? undefined : most;
  if (from !== undefined && to !== undefined) return `${from} to ${to}${unit}`;
  if (to !== undefined) return `at most ${to}${unit}`;
  return from === undefined || (unit === " characters" && from === 1) ? "" : `at least ${from}${unit}`;
}

function timeLimit({ timeout_ms }: ToolDescription): string {
  return timeout_ms === undefined ? "1 min" : inUnits(timeout_ms, TIME_UNITS);
}

function shortName({ name, required }: Parameter): string {
  return `\`${name}\`${required ? "*" : ""}`;
}

/** In a table, a bar ends a cell even inside code. */
function code(text: string): string {
  return `\`${text.replaceAll("|", "\\|")}\``;
}

/** Text as it stands, in a table and outside of one: nothing of it is Markdown. */
function plain(text: string): string {
  return text.replace(/[\\*_<>|[\]]/g, "\\$&").replaceAll("\n", " ");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
