/** Checks a call's input against its tool's schema, and suggests names for misspelt tools and parameters. */
import { namesLike, nearestName } from "@matrx/shared/effects.ts";
import { agentError, type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { invalidParametersError } from "@matrx/shared/json-input.ts";
import { zodMessages } from "@matrx/shared/zod-messages.ts";
import * as z from "zod";
import { nameInUse } from "../text/tool-names.ts";
import type { Tool } from "./tool.ts";

/** Parses the input, tolerating whatever is unambiguous. Throws MatrxError `INVALID_PARAMETERS` naming the field. */
export function parseInput(tool: Tool, input: Record<string, unknown>): Record<string, unknown> {
  const schema = tool.input;
  if ("json_schema" in schema) return schema.parse(input);
  const strict = schema.safeParse(input, { error: zodMessages });
  if (strict.success) return strict.data;
  const usual = mended(input, strict.error.issues);
  const tolerant = schema.safeParse(usual, { error: zodMessages });
  if (tolerant.success) return tolerant.data;
  const given = schema.safeParse(withoutBlank(tool, usual, tolerant.error.issues));
  if (given.success) return given.data;
  throw refused(tool.name, schema, tolerant.error);
}

/** A parameter that only people read, so it is cut if too long. */
const FOR_PEOPLE = "description";

/**
 * Repairs input that is wrong only in form: typed clients send `null` for omitted parameters, and weaker models send
 * numbers and booleans as text, or numeric text as a number.
 */
function mended(
  input: Record<string, unknown>,
  issues: readonly z.core.$ZodIssue[],
): Record<string, unknown> {
  const copy = structuredClone(input);
  for (const { issue, holder, field } of fieldsOf(copy, issues)) {
    const value = holder[field];
    if (value === null) delete holder[field];
    else if (typeof value === "string") holder[field] = meant(value, issue);
    else if (typeof value === "number" && isWanted(issue, "string")) holder[field] = String(value);
  }
  return copy;
}

/**
 * Models fill in an empty text for what they leave out. For what only programs are told of it is a mistake: without an empty
 * hash, for one, nothing would be compared.
 */
function withoutBlank(
  { model }: Tool,
  input: Record<string, unknown>,
  issues: readonly z.core.$ZodIssue[],
): Record<string, unknown> {
  if (model?.hidden) return input;
  const copy = structuredClone(input);
  for (const { issue, holder, field } of fieldsOf(copy, issues)) {
    const value = holder[field];
    const isOffered = !model?.omit?.includes(String(issue.path[0]));
    if (isOffered && typeof value === "string" && value.trim() === "") delete holder[field];
  }
  return copy;
}

/** The fields that are wrong, each with the object that holds it. */
function fieldsOf(input: Record<string, unknown>, issues: readonly z.core.$ZodIssue[]) {
  return issues.flatMap((issue) => {
    const field = issue.path.at(-1);
    const holder = issue.path.slice(0, -1).reduce<unknown>((value, key) => propertyOf(value, key), input);
    return typeof field === "string" && isObject(holder) ? [{ issue, holder, field }] : [];
  });
}

/** What a text means where the schema expects another type. */
function meant(text: string, issue: z.core.$ZodIssue): unknown {
  if (issue.code === "too_big" && issue.path.join() === FOR_PEOPLE) {
    // The limit counts characters, some of which take two UTF-16 units.
    const most = Number(issue.maximum);
    return Array.from(text.slice(0, 2 * most))
      .slice(0, most)
      .join("");
  }
  if (isWanted(issue, "boolean") && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === "true";
  return isWanted(issue, "number", "int") && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

function isWanted(issue: z.core.$ZodIssue, ...types: string[]): boolean {
  return issue.code === "invalid_type" && types.includes(issue.expected);
}

function propertyOf(value: unknown, key: PropertyKey): unknown {
  return isObject(value) || Array.isArray(value) ? Reflect.get(value, key) : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `TOOL_NOT_FOUND`, with the name that was probably meant. */
export function toolNotFoundError(name: string, known: Iterable<string>): MatrxError {
  const names = namesLike(name, known);
  const near = nearestName(name, names);
  return agentError("TOOL_NOT_FOUND", `This device has no tool named "${name.slice(0, 128)}"`, {
    hint: near ? `Did you mean "${near}"?` : `It has: ${names.join(", ")}`,
    details: near ? { tool: name, did_you_mean: near } : { tool: name },
  });
}

function refused(tool: string, schema: z.ZodObject, error: z.ZodError): MatrxError {
  // A misspelt parameter also counts as missing: reporting the misspelt name helps more.
  const unknown = error.issues.find((issue) => issue.code === "unrecognized_keys" && issue.path.length === 0);
  const { message, hint, details } = invalidParametersError(
    unknown ? new z.ZodError([unknown]) : error,
    undefined,
    "tool",
  );
  const known = Object.keys(schema.shape);
  const name = unknown?.code === "unrecognized_keys" ? unknown.keys[0] : undefined;
  const near = name && nearestName(name, known);
  const parameters = `${nameInUse(tool)} takes: ${known.join(", ") || "no parameters"}`;
  return toolError("INVALID_PARAMETERS", message, {
    hint: near ? `Did you mean "${near}"?` : unknown ? parameters : hint,
    details: near ? { ...details, did_you_mean: near } : details,
  });
}
