/** The fields of a form, made from a tool's JSON Schema: text, numbers, choices and yes-or-no as inputs, all else as JSON. */
import { readableName } from "./label.ts";
import { choicesOf, isSchema, resolved, type Schema, textOf, withoutNull } from "./schema.ts";

export interface Choice {
  readonly value: unknown;
  readonly label: string;
}

export interface TextInputKind {
  readonly kind: "text";
  readonly isLong: boolean;
  readonly isSecret: boolean;
  readonly preset: string;
}

export interface NumberInputKind {
  readonly kind: "number";
  readonly isWhole: boolean;
  readonly least: number | undefined;
  readonly most: number | undefined;
  readonly preset: string;
}

export type InputKind =
  | TextInputKind
  | NumberInputKind
  | { readonly kind: "number or text"; readonly preset: string }
  | { readonly kind: "choice"; readonly choices: readonly Choice[]; readonly preset: string }
  | { readonly kind: "flag"; readonly preset: boolean }
  | { readonly kind: "list" }
  | { readonly kind: "json"; readonly type: string; readonly preset: string };

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly help: string;
  readonly isRequired: boolean;
  /** A required text that says something by being empty. */
  readonly mayBeEmpty: boolean;
  readonly input: InputKind;
}

/** Names of text that is usually more than a line. */
const LONG_TEXT = [
  "command",
  "content",
  "old_string",
  "new_string",
  "script",
  "text",
  "patch",
  "code",
  "body",
];
/** An empty file is a file. */
const MAY_BE_EMPTY = ["content"];
/** Text that may be longer than this has a field of more lines, in characters. */
const LINE = 20_000;

/** The name of the only field of an input that has no fields of its own. */
export const WHOLE = "";

/** Required ones first. */
export function fieldsOf(schema: Schema): Field[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
  if (properties.length === 0) return takesAnything(schema) ? [wholeField(schema)] : [];
  const fields = properties.map(([name, property]) =>
    fieldOf(name, property, schema, required.includes(name)),
  );
  return [
    ...fields.filter(({ isRequired }) => isRequired),
    ...fields.filter(({ isRequired }) => !isRequired),
  ];
}

function fieldOf(name: string, property: unknown, root: Schema, isRequired: boolean): Field {
  const found = isSchema(property) ? resolved(property, root) : {};
  const schema = withoutNull(found, root);
  return {
    name,
    label: readableName(name),
    help: textOf(schema.description) || textOf(found.description),
    isRequired,
    mayBeEmpty: MAY_BE_EMPTY.includes(name) && !(Number(schema.minLength) > 0),
    input: inputOf(name, schema, root),
  };
}

function inputOf(name: string, schema: Schema, root: Schema): InputKind {
  const preset = presetOf(schema);
  const choices = choicesIn(schema, root);
  if (choices) return { kind: "choice", choices, preset };
  if (schema.type === "boolean") return { kind: "flag", preset: flagPreset(schema) };
  if (schema.type === "number" || schema.type === "integer") return numberOf(schema);
  if (schema.type === "string") return textInput(name, schema);
  if (isNumberOrText(schema, root)) return { kind: "number or text", preset };
  if (isTextList(schema, root)) return { kind: "list" };
  return { kind: "json", type: textOf(schema.type), preset };
}

function choicesIn(schema: Schema, root: Schema): Choice[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => ({ value, label: labelOf(value) }));
  if ("const" in schema) return [{ value: schema.const, label: labelOf(schema.const) }];
  const choices = choicesOf(schema, root);
  if (choices.length === 0 || !choices.every((choice) => "const" in choice)) return undefined;
  return choices.map(({ const: value, title }) => ({ value, label: textOf(title) || labelOf(value) }));
}

function labelOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function numberOf(schema: Schema): NumberInputKind {
  return {
    kind: "number",
    isWhole: schema.type === "integer",
    least: bound(schema.minimum),
    most: bound(schema.maximum),
    preset: presetOf(schema),
  };
}

/** Bounds of the language's own number type say nothing to a person. */
function bound(limit: unknown): number | undefined {
  return typeof limit === "number" && Math.abs(limit) < Number.MAX_SAFE_INTEGER ? limit : undefined;
}

function textInput(name: string, schema: Schema): TextInputKind {
  const isSecret = schema.format === "password" || schema.writeOnly === true;
  const isLong = !isSecret && (LONG_TEXT.includes(name) || Number(schema.maxLength) > LINE);
  return { kind: "text", isLong, isSecret, preset: presetOf(schema) };
}

function isNumberOrText(schema: Schema, root: Schema): boolean {
  const types = Array.isArray(schema.type) ? schema.type : choicesOf(schema, root).map(({ type }) => type);
  return types.length > 0 && types.every((type) => ["number", "integer", "string"].includes(textOf(type)));
}

function isTextList({ type, items }: Schema, root: Schema): boolean {
  if (type !== "array" || !isSchema(items)) return false;
  const item = resolved(items, root);
  return item.type === "string" && !Array.isArray(item.enum);
}

/** Some schemas say it only in words. */
function flagPreset(schema: Schema): boolean {
  if (typeof schema.default === "boolean") return schema.default;
  return /\bdefault:? true\b/i.test(textOf(schema.description));
}

function presetOf({ default: preset }: Schema): string {
  if (preset === undefined || preset === null) return "";
  return typeof preset === "string" ? preset : JSON.stringify(preset);
}

function takesAnything(schema: Schema): boolean {
  const { additionalProperties: more } = schema;
  return more === true || isSchema(more) || ["anyOf", "oneOf", "allOf", "$ref"].some((key) => key in schema);
}

function wholeField(schema: Schema): Field {
  return {
    name: WHOLE,
    label: "Input",
    help: textOf(schema.description) || "All of the tool's input, as one JSON object.",
    isRequired: false,
    mayBeEmpty: false,
    input: { kind: "json", type: "object", preset: "{}" },
  };
}
