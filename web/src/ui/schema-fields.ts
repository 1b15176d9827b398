/** The fields of a tool's input, read from its JSON Schema: what each is, and how its text becomes a value. */

type Schema = Readonly<Record<string, unknown>>;

export type FieldKind = "text" | "long text" | "number" | "yes or no" | "choice" | "number or text" | "json";

export interface SchemaField {
  readonly name: string;
  readonly label: string;
  readonly kind: FieldKind;
  readonly help: string | undefined;
  readonly isRequired: boolean;
  readonly schema: Schema;
  /** Of a choice, in order. */
  readonly choices: readonly unknown[];
}

/** What is typed, by name; a box that is ticked is "true". */
export type Draft = Readonly<Record<string, string>>;

/** Names of text that is usually more than a line. */
const LONG_TEXT = ["command", "content", "old_string", "new_string", "script", "text"];

/** Text that may be left empty on purpose where the other is given: replacing with nothing takes text away. */
const MAY_BE_EMPTY: Readonly<Record<string, string>> = { new_string: "old_string" };

export function fieldsOf(schema: Schema): SchemaField[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(recordOf(schema.properties)).map(([name, property]) => {
    const given = recordOf(property);
    const plain = withoutNull(given);
    return {
      name,
      label: labelOf(name),
      kind: kindOf(name, plain),
      help: textOf(plain.description) ?? textOf(given.description),
      isRequired: required.includes(name),
      schema: plain,
      choices: Array.isArray(plain.enum) ? plain.enum : [],
    };
  });
}

/** `run_in_background` is "Run in background". */
function labelOf(name: string): string {
  const words = name.replaceAll("_", " ").replace(/([a-z])([A-Z])/g, "$1 $2");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The input to send: what was left empty is left out. Throws SyntaxError for JSON that is none. */
export function inputOf(fields: readonly SchemaField[], draft: Draft): Record<string, unknown> {
  const values = fields.map((field) => [field.name, fieldValue(field, draft[field.name] ?? "")] as const);
  const input = Object.fromEntries(values.filter(([, value]) => value !== undefined));
  for (const [name, other] of Object.entries(MAY_BE_EMPTY))
    if (fields.some((field) => field.name === name) && input[other]) input[name] ??= "";
  return input;
}

function fieldValue({ kind, schema, choices, isRequired }: SchemaField, text: string): unknown {
  switch (kind) {
    case "yes or no": {
      const value = text === "true";
      return value === (schema.default === true) && !isRequired ? undefined : value;
    }
    case "choice":
      return text === "" ? undefined : choices[Number(text)];
    case "number":
      return text === "" ? undefined : Number(text);
    case "number or text":
      // 065 is a name.
      if (/^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)) return Number(text);
      break;
    case "json":
      return text.trim() === "" ? undefined : JSON.parse(text);
  }
  return text === "" && !isRequired ? undefined : text;
}

/** What is wrong with the text of a field; undefined: nothing that can be seen here. */
export function problemOf({ kind, schema, isRequired }: SchemaField, text: string): string | undefined {
  if (text.trim() === "") return isRequired && kind !== "yes or no" ? "This is needed." : undefined;
  if (kind === "json" && !isJson(text)) return "This is not valid JSON yet.";
  if (kind !== "number") return undefined;
  const value = Number(text);
  if (Number.isNaN(value)) return "This is no number.";
  if (schema.type === "integer" && !Number.isInteger(value)) return "This must be a whole number.";
  if (typeof schema.minimum === "number" && value < schema.minimum) return `At least ${schema.minimum}.`;
  if (typeof schema.maximum === "number" && value > schema.maximum) return `At most ${schema.maximum}.`;
  return undefined;
}

function kindOf(name: string, schema: Schema): FieldKind {
  if (Array.isArray(schema.enum)) return "choice";
  if (schema.type === "boolean") return "yes or no";
  if (schema.type === "number" || schema.type === "integer") return "number";
  if (schema.type === "string") return LONG_TEXT.includes(name) ? "long text" : "text";
  return isNumberOrText(schema) ? "number or text" : "json";
}

function isNumberOrText({ anyOf }: Schema): boolean {
  if (!Array.isArray(anyOf) || anyOf.length === 0) return false;
  return anyOf.every((one) => ["number", "integer", "string"].includes(String(recordOf(one).type)));
}

/** `anyOf: [X, null]` and `type: ["X", "null"]` are X, left out when empty. */
function withoutNull(property: Schema): Schema {
  const all: unknown[] = Array.isArray(property.anyOf) ? property.anyOf : [];
  const choices = all.map(recordOf).filter(({ type }) => type !== "null");
  const schema = choices.length === 1 ? { ...property, ...choices[0] } : property;
  if (!Array.isArray(schema.type)) return schema;
  const types = schema.type.filter((type) => type !== "null");
  return types.length === 1 ? { ...schema, type: types[0] } : schema;
}

function recordOf(value: unknown): Schema {
  return typeof value === "object" && value !== null ? (value as Schema) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
