/** Log lines for people. */
import { oneLine } from "@matrx/shared/one-line.ts";

/** Limit on a line for people, in UTF-16 units. */
const LINE_CHARS = 8192;

/** Formats a JSON line for people; other lines stay as they are. Text from elsewhere cannot begin a new line. */
export function shortLine(line: string): string {
  try {
    const { level, time, msg = "", ...rest } = JSON.parse(line) as Record<string, unknown>;
    const clock = new Date(Number(time)).toTimeString().slice(0, 8);
    const facts = Object.entries(rest).map(([name, value]) => ` ${name}=${shown(value)}`);
    return oneLine(`${clock} ${markOf(Number(level))}${msg}${facts.join("")}`, LINE_CHARS);
  } catch {
    return oneLine(line.trimEnd(), LINE_CHARS);
  }
}

function markOf(level: number): string {
  if (level >= 50) return "error: ";
  if (level >= 40) return "warning: ";
  return "";
}

function shown(value: unknown): string {
  if (typeof value === "object" && value !== null && "message" in value) return JSON.stringify(value.message);
  return typeof value === "string" ? value : JSON.stringify(value);
}
