/** A call's input against its tool's schema, and what to say when name or parameter is wrong. */
import { invalidParameters } from "@matrx/shared/caller-frames.ts";
import { nearestName } from "@matrx/shared/effects.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import type * as z from "zod";
import type { Tool } from "./tool.ts";

/** Parses the input. Throws MatrxError `INVALID_PARAMETERS` that names the field. */
export function parseInput(tool: Tool, input: Record<string, unknown>): Record<string, unknown> {
  const result = tool.input.safeParse(input);
  if (result.success) return result.data;
  throw refused(tool, result.error);
}

/** `TOOL_NOT_FOUND`, with the name that may have been meant. */
export function toolNotFound(name: string, known: Iterable<string>): MatrxError {
  const names = [...known];
  const near = nearestName(name, names);
  return new MatrxError({
    code: "TOOL_NOT_FOUND",
    message: `This device has no tool named "${name.slice(0, 128)}"`,
    hint: near ? `Did you mean "${near}"?` : `It has: ${names.sort().join(", ")}`,
    hop: "agent",
    details: near ? { tool: name, did_you_mean: near } : { tool: name },
  });
}

function refused(tool: Tool, error: z.ZodError): MatrxError {
  const { message, hint, details } = invalidParameters(error, undefined, "tool");
  const unknown = unknownParameter(error);
  const known = Object.keys(tool.input.shape);
  const near = unknown && nearestName(unknown, known);
  return new MatrxError({
    code: "INVALID_PARAMETERS",
    message,
    hint: near
      ? `Did you mean "${near}"?`
      : unknown
        ? `${tool.name} takes: ${known.join(", ") || "no parameters"}`
        : hint,
    hop: "tool",
    details: near ? { ...details, did_you_mean: near } : details,
  });
}

/** The first name that the schema does not know, where only that is wrong at the top. */
function unknownParameter(error: z.ZodError): string | undefined {
  const issue = error.issues[0];
  return issue?.code === "unrecognized_keys" && issue.path.length === 0 ? issue.keys[0] : undefined;
}
