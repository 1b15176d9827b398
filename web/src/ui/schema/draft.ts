/** What a person has typed into a form, as it stands there, and the input that it makes. */
import { type Field, type InputKind, WHOLE } from "./fields.ts";

/** Text as typed, a choice's place, a yes or no, or texts. */
export type DraftValue = string | boolean | readonly string[];
export type Draft = ReadonlyMap<string, DraftValue>;

export type ToolInput = Readonly<Record<string, unknown>>;

export interface Read {
  readonly input: ToolInput;
  /** What is wrong, by field. */
  readonly problems: ReadonlyMap<string, string>;
}

/** Text that is empty on purpose where the other is given: replacing with nothing takes text away. */
const EMPTY_WITH: ReadonlyMap<string, string> = new Map([["new_string", "old_string"]]);

export const NEEDED = "Fill this in: the tool needs it.";

/** The input. Unset optional fields are left out. */
export function readDraft(fields: readonly Field[], draft: Draft): Read {
  const values = new Map<string, unknown>();
  const problems = new Map<string, string>();
  for (const field of fields) {
    try {
      const value = readField(field, draft.get(field.name));
      if (value !== undefined) values.set(field.name, value);
      else if (field.isRequired) problems.set(field.name, NEEDED);
    } catch (error) {
      problems.set(field.name, error instanceof Error ? error.message : String(error));
    }
  }
  for (const { name } of fields) {
    const other = EMPTY_WITH.get(name);
    if (other === undefined || values.has(name) || !values.get(other)) continue;
    values.set(name, "");
    problems.delete(name);
  }
  const whole = values.get(WHOLE);
  return { input: whole === undefined ? Object.fromEntries(values) : (whole as ToolInput), problems };
}

/** Undefined: left out. Throws what is wrong with it. */
function readField(field: Field, value: DraftValue | undefined): unknown {
  const { input, isRequired } = field;
  const text = typeof value === "string" ? value : "";
  switch (input.kind) {
    case "text":
      return text === "" && !(isRequired && field.mayBeEmpty) ? undefined : text;
    case "number":
      return readNumber(text.trim(), input.isWhole);
    case "number or text":
      return looksLikeNumber(text) ? Number(text) : text || undefined;
    case "choice":
      return text === "" ? undefined : input.choices[Number(text)]?.value;
    case "flag":
      return readFlag(typeof value === "boolean" ? value : input.preset, input.preset, isRequired);
    case "list":
      return readList(value, isRequired);
    case "json":
      return readJson(text, field.name === WHOLE);
  }
}

function readNumber(text: string, isWhole: boolean): number | undefined {
  if (text === "") return undefined;
  const number = Number(text);
  if (!/^[-+.\de]+$/i.test(text) || !Number.isFinite(number)) throw new Error("This is not a number.");
  if (isWhole && !Number.isInteger(number)) throw new Error("Only whole numbers go here.");
  return number;
}

/** What looks like a number is one; 065 is a name. */
function looksLikeNumber(text: string): boolean {
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text);
}

function readFlag(value: boolean, preset: boolean, isRequired: boolean): boolean | undefined {
  return value === preset && !isRequired ? undefined : value;
}

function readList(value: DraftValue | undefined, isRequired: boolean): readonly string[] | undefined {
  const given = typeof value === "object" ? value.filter((text) => text !== "") : [];
  return given.length === 0 && !isRequired ? undefined : given;
}

function readJson(text: string, isWhole: boolean): unknown {
  const problem = jsonProblem(text);
  if (problem !== undefined) throw new Error(problem);
  if (text.trim() === "") return undefined;
  const value: unknown = JSON.parse(text);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (isWhole && !isObject) throw new Error('The input is an object: {"name": "value"}.');
  return value;
}

/** What is wrong with JSON that is being typed; empty is nothing yet. */
export function jsonProblem(text: string): string | undefined {
  if (text.trim() === "") return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return "This is not valid JSON yet.";
  }
}

/** The draft that makes an input, to be changed and sent again. */
export function draftOf(fields: readonly Field[], input: ToolInput): Draft {
  const draft = new Map<string, DraftValue>();
  for (const { name, input: kind } of fields) {
    const value = name === WHOLE ? input : Object.hasOwn(input, name) ? input[name] : undefined;
    if (value !== undefined) draft.set(name, draftValue(kind, value));
  }
  return draft;
}

function draftValue(input: InputKind, value: unknown): DraftValue {
  switch (input.kind) {
    case "flag":
      return value === true;
    case "list":
      return Array.isArray(value) ? value.map(String) : [];
    case "choice":
      return placeOf(input.choices, value);
    case "json":
      return JSON.stringify(value, undefined, 2);
    default:
      return typeof value === "string" ? value : JSON.stringify(value);
  }
}

function placeOf(choices: readonly { readonly value: unknown }[], value: unknown): string {
  const wanted = JSON.stringify(value);
  const place = choices.findIndex((choice) => JSON.stringify(choice.value) === wanted);
  return place < 0 ? "" : String(place);
}
