/** The unified diff of a file, for a person who decides on the change. What it leaves out, it says. */
import { counted } from "../text/counted.ts";
import { shownText, textOfBytes } from "./code-units.ts";
import { diffLines } from "./line-diff.ts";
import { endsOf, withPlainEnds } from "./line-ends.ts";

/** Larger files are not read to be compared; in bytes. */
export const COMPARED_MAX_BYTES = 1024 * 1024;
/** More than any question can show, in characters. */
const SHOWN_CHARS = 256 * 1024;

export interface FileChange {
  /** Its name before the change; undefined: it is new. */
  readonly from: string | undefined;
  /** Its name after the change; undefined: it is deleted. */
  readonly to: string | undefined;
  /** Undefined if it is not text, or too large. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

export interface FileDiff {
  readonly text: string;
  readonly isCut: boolean;
  readonly added?: number;
  readonly removed?: number;
}

/** Bytes of a file as text; undefined if they are something else. */
export function textOfFile(bytes: Buffer): string | undefined {
  const text = textOfBytes(bytes);
  return text && shownText(text.units, text.encoding);
}

export function fileDiff({ from, to, before, after }: FileChange): FileDiff {
  const header = [`--- ${from ?? "/dev/null"}`, `+++ ${to ?? "/dev/null"}`];
  const known = from === undefined || before !== undefined;
  const diff =
    known && from !== undefined && to !== undefined ? compared(before ?? "", after ?? "") : undefined;
  if (diff) return { ...diff, text: [...header, ...diff.lines].join("\n"), isCut: false };
  const whole = from === undefined || to === undefined;
  const old = to === undefined ? side("-", before) : nothing();
  const young = to === undefined ? nothing() : side("+", after);
  const remark = whole ? [] : [`[${known ? TOO_DIFFERENT : NOT_SHOWN}]`];
  return {
    text: [...header, ...remark, ...old.lines, ...young.lines].join("\n"),
    isCut: old.isCut || young.isCut || (!whole && known),
    ...(known && whole && { added: young.count, removed: old.count }),
  };
}

const TOO_DIFFERENT = "The old content differs too much to be compared; below is the whole new content";
const NOT_SHOWN = "The old content is not text, or too large to be compared; below is the whole new content";

/** How many lines change, in words. */
export function changeInWords({ added, removed }: Pick<FileDiff, "added" | "removed">): string {
  if (added === undefined || removed === undefined) return "the whole content";
  return `${counted(added, "line")} added, ${removed} removed`;
}

function compared(before: string, after: string) {
  // Line ends are shown only if they differ.
  const ends = endsOf(before);
  const isSame = ends !== "mixed" && (ends === endsOf(after) || endsOf(after) === "none" || ends === "none");
  return diffLines(before, after, isSame ? withPlainEnds : (text) => text);
}

interface Side {
  readonly lines: readonly string[];
  readonly count: number;
  readonly isCut: boolean;
}

function nothing(): Side {
  return { lines: [], count: 0, isCut: false };
}

/** A whole content as lines that are all new, or all gone. */
function side(sign: "+" | "-", text: string | undefined): Side {
  if (text === undefined) return { lines: ["[Not text, or too large to be shown]"], count: 0, isCut: true };
  if (text === "") return nothing();
  const isCut = text.length > SHOWN_CHARS;
  const all = text.split("\n");
  const isEndless = all.at(-1) !== "";
  const count = isEndless ? all.length : all.length - 1;
  const shown = (isCut ? text.slice(0, SHOWN_CHARS).toWellFormed().split("\n") : all.slice(0, count)).map(
    (line) => sign + line,
  );
  const range = sign === "+" ? `@@ -0,0 +1,${count} @@` : `@@ -1,${count} +0,0 @@`;
  const end = isEndless && !isCut ? ["\\ No newline at end of file"] : [];
  return { lines: [range, ...shown, ...end], count, isCut };
}
