/** How a command ends that could not do it: plain words on stderr, and an exit code. */
import { faceOf, MatrxError, shapeOf } from "@matrx/shared/errors.ts";
import { CommanderError } from "commander";
import { styled, toolOutput } from "./print.ts";

/** Wrong usage (sysexits, EX_USAGE). */
const USAGE = 64;

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
  if (error instanceof MatrxError) return faceOf(error.code).exit;
  return faceOf("INTERNAL").exit;
}

/** Says what went wrong, what to do, and who said it; with `json` as one object on stdout besides. */
export function reportFailure(error: unknown, { json }: { json: boolean }): void {
  const incident = crypto.randomUUID().slice(0, 8);
  const shape = shapeOf(error, "caller", incident);
  if (!(error instanceof MatrxError)) console.error(`incident ${incident}:`, error);
  if (json) console.log(JSON.stringify({ error: shape }));
  console.error(`${styled("red", "Error:", process.stderr)} ${toolOutput(shape.message, process.stderr)}`);
  if (shape.hint) console.error(toolOutput(shape.hint, process.stderr));
  console.error(styled("dim", `(${shape.code}, said by the ${hopName(shape.hop)})`, process.stderr));
}

/** Wrong use of a command, found after commander's own checks. */
export function wrongUse(message: string, hint: string): MatrxError {
  return new MatrxError({ code: "INVALID_PARAMETERS", message, hint, hop: "caller" });
}

function hopName(hop: string): string {
  return hop === "caller" ? "command line" : hop;
}
