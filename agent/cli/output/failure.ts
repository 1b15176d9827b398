/** How a failed command ends: a message on stderr, and an exit code. */
import {
  callerError,
  type ErrorShape,
  errorInfo,
  type Hop,
  MatrxError,
  shapeOf,
} from "@matrx/shared/errors.ts";
import { CommanderError } from "commander";
import { asTyped } from "../program-name.ts";
import { oneLine, printJsonLine, styled, toolOutput } from "./print.ts";

/** Wrong usage (sysexits, EX_USAGE). */
const USAGE = 64;
/** Input or output failed (sysexits, EX_IOERR). */
export const IO_ERROR = 74;

/** Exit code of `matrx run` if it could not run the program: as for ssh, since any other may be the program's own. */
export const NOT_RUN = 255;

export function exitCodeOf(error: unknown): number {
  const isHelp = error instanceof CommanderError && error.exitCode === 0;
  if (isHelp) return 0;
  if (process.argv[2] === "run") return NOT_RUN;
  if (error instanceof CommanderError) return USAGE;
  if (error instanceof MatrxError) return errorInfo(error.code).exit;
  return errorInfo("INTERNAL").exit;
}

/** An error of commander, which has already printed it, as JSON. */
export function commanderShape({ message }: CommanderError): ErrorShape {
  return { code: "INVALID_PARAMETERS", message: message.replace(/^error: /, ""), hop: "caller" };
}

/** Prints what went wrong and what to do; with `json`, also as one object on stdout. */
export function reportFailure(error: unknown, { json }: { json: boolean }): void {
  const incident = crypto.randomUUID().slice(0, 8);
  const { hint, ...shape } = shapeOf(error, "caller", incident);
  const todo = hint && asTyped(hint);
  if (!(error instanceof MatrxError)) console.error(`incident ${incident}:`, error);
  if (json) printJsonLine({ error: { ...shape, ...(todo && { hint: todo }) } });
  // The message of a tool, or of the agent about one, may hold output; another with a line break could pass for two.
  const shown = (text: string) =>
    ["tool", "agent"].includes(shape.hop) ? toolOutput(text, process.stderr) : oneLine(text);
  console.error(`${styled("red", WHO[shape.hop], process.stderr)} ${shown(shape.message)}`);
  if (todo) console.error(shown(todo));
}

/** An error in how a command was used, found after commander's own checks. */
export function usageError(message: string, hint: string): MatrxError {
  return callerError("INVALID_PARAMETERS", message, { hint });
}

const WHO: Record<Hop, string> = {
  caller: "Error:",
  relay: "Error from the relay:",
  device: "Error from the device:",
  agent: "Error:",
  tool: "Error:",
};
