/** A position among lines sorted by path, as text that a caller passes back: `src/a.ts:12`. */
import { isUtf8 } from "node:buffer";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";

export interface Cursor {
  /** Relative to the folder that is searched. */
  readonly path: Buffer;
  readonly line: number;
}

/** Invalid UTF-8, control characters and `%` itself are percent-encoded. */
export function cursorText({ path, line }: Cursor): string {
  const text = isUtf8(path) ? path.toString("utf8") : path.toString("latin1");
  const odd = isUtf8(path) ? /[%\p{C}]/gu : /[^ -~]|%/g;
  const encoding = isUtf8(path) ? "utf8" : "latin1";
  const escaped = text.replace(odd, (part) =>
    [...Buffer.from(part, encoding)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  );
  return `${escaped}:${line}`;
}

/** Undefined for the empty text, which is before all lines. Throws MatrxError `INVALID_PARAMETERS`. */
export function cursorOf(text: string): Cursor | undefined {
  if (text === "") return undefined;
  const found = /^(.+):(\d+)$/s.exec(text);
  if (!found) throw badCursor(text);
  const [, path = "", line] = found;
  const parts = path
    .split(/(%[0-9a-f]{2})/i)
    .map((part, index) => (index % 2 === 1 ? Buffer.from(part.slice(1), "hex") : Buffer.from(part, "utf8")));
  return { path: Buffer.concat(parts), line: Number(line) };
}

/** Sorting by these keys sorts paths name by name, in the order in which folders are walked. */
export function orderKey(path: Buffer): string {
  return path.toString("latin1").replaceAll("/", "\0");
}

function badCursor(text: string): MatrxError {
  return toolError("INVALID_PARAMETERS", `after: "${text.slice(0, 200)}" is not a position in the results`, {
    hint: 'Give the text that the last page gave, or "" to start',
    details: { field: "after" },
  });
}
