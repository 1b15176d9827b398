/** A call's input against its tool's schema, and what to say when name or parameter is wrong. */
import { invalidParameters } from "@matrx/shared/caller-frames.ts";
import { namesLike, nearestName } from "@matrx/shared/effects.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { plainWords } from "@matrx/shared/plain-words.ts";
import * as z from "zod";
import type { Tool } from "./tool.ts";
import { nameInUse } from "./tool-names.ts";

/** Parses the input. Throws MatrxError `INVALID_PARAMETERS` that names the field. */
export function parseInput(tool: Tool, input: Record<string, unknown>): Record<string, unknown> {
  const result = tool.input.safeParse(input, { error: plainWords });
  if (result.success) return result.data;
  throw refused(tool, result.error);
}

/** `TOOL_NOT_FOUND`, with the name that may have been meant. */
export function toolNotFound(name: string, known: Iterable<string>): MatrxError {
  const names = namesLike(name, known);
  const near = nearestName(name, names);
  return new MatrxError({
    code: "TOOL_NOT_FOUND",
    message: `This device has no tool named "${name.slice(0, 128)}"`,
    hint: near ? `Did you mean "${near}"?` : `It has: ${names.join(", ")}`,
    hop: "agent",
    details: near ? { tool: name, did_you_mean: near } : { tool: name },
  });
}

function refused(tool: Tool, error: z.ZodError): MatrxError {
  // A misspelt parameter is also a missing one: the name that is there helps more.
  const unknown = error.issues.find((issue) => issue.code === "unrecognized_keys" && issue.path.length === 0);
  const { message, hint, details } = invalidParameters(
    unknown ? new z.ZodError([unknown]) : error,
    undefined,
    "tool",
  );
  const known = Object.keys(tool.input.shape);
  const name = unknown?.code === "unrecognized_keys" ? unknown.keys[0] : undefined;
  const near = name && nearestName(name, known);
  const parameters = `${nameInUse(tool.name)} takes: ${known.join(", ") || "no parameters"}`;
  return new MatrxError({
    code: "INVALID_PARAMETERS",
    message,
    hint: near ? `Did you mean "${near}"?` : unknown ? parameters : hint,
    hop: "tool",
    details: near ? { ...details, did_you_mean: near } : details,
  });
}
