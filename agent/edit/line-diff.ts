/** What changed between two texts, line by line. Compares only the part between their common beginning and end. */
import { structuredPatch } from "diff";
import { shownText, type UnitText } from "./code-units.ts";
import { withPlainEnds } from "./line-ends.ts";

const MOST_LINES = 200;
const MOST_CHARS = 16_000;
const LINE_CHARS = 500;

export interface ShownDiff {
  readonly text: string;
  /** Absent if the texts differ too much to count. */
  readonly added?: number;
  readonly removed?: number;
  readonly cut: boolean;
}

/** `after` is the edited text of the same file, in units. */
export function shownDiff(before: UnitText, after: string): ShownDiff {
  const decode = (units: string) => withPlainEnds(shownText(units, before.encoding));
  const diff = diffLines(before.units, after, decode);
  if (!diff) return { text: "[The change is too large to show by line; read the file to see it]", cut: true };
  const onlyEnds = diff.lines.length === 0 && before.units !== after;
  const shown: string[] = onlyEnds ? ["[Only line ends change]"] : [];
  let chars = 0;
  for (const line of diff.lines) {
    const text = line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS).toWellFormed()}… [cut]` : line;
    chars += text.length + 1;
    if (shown.length === MOST_LINES || chars > MOST_CHARS) break;
    shown.push(text);
  }
  const left = onlyEnds ? 0 : diff.lines.length - shown.length;
  if (left > 0) shown.push(`[${left} more lines of this diff are not shown; read the file to see them]`);
  return { text: shown.join("\n"), added: diff.added, removed: diff.removed, cut: left > 0 };
}

const CONTEXT_LINES = 3;
/** A comparison that exceeds these is given up; in changed lines and milliseconds. */
const MOST_CHANGES = 600;
const COMPARED_MS = 1000;
/** Limit on the text between the first and the last difference, in characters. */
const MOST_COMPARED = 1024 * 1024;

/** The lines in which two texts differ, with some around them. */
interface Window {
  /** From 1. */
  readonly firstLine: number;
  readonly before: string;
  readonly after: string;
}

export interface LineDiff {
  /** Hunks of a unified diff, as lines. */
  readonly lines: readonly string[];
  readonly added: number;
  readonly removed: number;
}

/** Texts may be units or decoded; `decode` makes the compared part readable. Undefined if they differ too much. */
export function diffLines(
  before: string,
  after: string,
  decode: (text: string) => string,
): LineDiff | undefined {
  const window = windowOf(before, after);
  if (Math.max(window.before.length, window.after.length) > MOST_COMPARED) return undefined;
  const limits = { context: CONTEXT_LINES, maxEditLength: MOST_CHANGES, timeout: COMPARED_MS };
  const patch = structuredPatch("", "", decode(window.before), decode(window.after), "", "", limits);
  if (!patch) return undefined;
  const shift = window.firstLine - 1;
  const lines = patch.hunks.flatMap((hunk) => [
    `@@ -${range(hunk.oldStart + shift, hunk.oldLines)} +${range(hunk.newStart + shift, hunk.newLines)} @@`,
    ...hunk.lines,
  ]);
  const all = patch.hunks.flatMap((hunk) => hunk.lines);
  const count = (sign: string) => all.filter((line) => line.startsWith(sign)).length;
  return { lines, added: count("+"), removed: count("-") };
}

/** As in a unified diff, where an empty range names the line before it. */
function range(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}

/** Undefined if they differ too much to count. */
export function countChangedLines(
  before: string,
  after: string,
): { added: number; removed: number } | undefined {
  return diffLines(before, after, (text) => text);
}

function windowOf(before: string, after: string): Window {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  let tail = 0;
  while (
    tail < shorter - start &&
    before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)
  ) {
    tail++;
  }
  const from = lineStart(before, start, CONTEXT_LINES);
  // Both texts are the same there, so their line ends are at the same distance from the end.
  const end = lineEnd(before, before.length - tail, CONTEXT_LINES);
  return {
    firstLine: countLineEnds(before, from) + 1,
    before: before.slice(from, end),
    after: after.slice(from, after.length - (before.length - end)),
  };
}

/** The beginning of the line at a position, or of a line before it. */
function lineStart(text: string, place: number, linesBefore: number): number {
  let at = place;
  for (let line = 0; line <= linesBefore && at > 0; line++)
    at = text.lastIndexOf("\n", at - (line ? 2 : 1)) + 1;
  return at;
}

/** The end of the line at a position, or of a line after it. */
function lineEnd(text: string, place: number, linesAfter: number): number {
  let at = place;
  for (let line = 0; line <= linesAfter; line++) {
    const end = text.indexOf("\n", at);
    if (end === -1) return text.length;
    at = end + 1;
  }
  return at;
}

/** How many line ends are before a position. */
function countLineEnds(text: string, place: number): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < place; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
