/** A call's input in one line. */
import type { ToolInput } from "../../ui/schema/draft.ts";
import { visibleLine } from "../../ui/visible-text.ts";

const CHARS = 160;

/** A single value stands alone. */
export function inputLine(input: ToolInput): string {
  const values = Object.values(input);
  const [only] = values;
  const text = values.length === 1 && typeof only === "string" ? only : jsonStart(input);
  return visibleLine(text.length > CHARS ? `${text.slice(0, CHARS)}…` : text);
}

/** Long texts are cut before they are written out. */
function jsonStart(input: ToolInput): string {
  if (Object.keys(input).length === 0) return "";
  return JSON.stringify(input, (_, value) =>
    typeof value === "string" && value.length > CHARS ? `${value.slice(0, CHARS)}…` : value,
  );
}
