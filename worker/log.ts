/** The relay's log. Text from others is kept on one line, so that it cannot forge log lines. */
import { oneLine } from "@matrx/shared/one-line.ts";

const LINE_CHARS = 4000;

/** Logs something that the owner may want to know, with the stack of `error`. */
export function logWarning(text: string, error?: unknown): void {
  console.warn(lineOf(text, error));
}

/** Logs an internal error. `incident`: the number that the caller was given. */
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
