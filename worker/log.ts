/** The relay's log. What others wrote stays on one line of it and forges none. */
import { oneLine } from "@matrx/shared/one-line.ts";

const LINE_CHARS = 4000;

/** Something that the owner may want to know; `error` is told with where it came from. */
export function logWarning(text: string, error?: unknown): void {
  console.warn(lineOf(text, error));
}

/** A fault of ours. `incident`: the number that the caller was given. */
export function logIncident(incident: string, error: unknown): void {
  console.error(lineOf(`incident ${incident}`, error));
}

function lineOf(text: string, error: unknown): string {
  return oneLine(error === undefined ? text : `${text}: ${told(error)}`, LINE_CHARS);
}

function told(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const frames = error.stack?.split("\n").filter((line) => /^ +at /.test(line)) ?? [];
  return [`${error.name}: ${error.message}`, ...frames.map((line) => line.trim())].join(" | ");
}
