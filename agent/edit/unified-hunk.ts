/** Reads one hunk of a unified diff. If its counts are wrong, it extends to the first line that cannot belong to it. */
import type { Line } from "./line-ends.ts";
import { badPatchError, type Hunk, type HunkLine, LINE_KINDS } from "./patch-types.ts";

const RANGE = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Lines of the old and of the new text. */
interface Counts {
  readonly old: number;
  readonly new: number;
}

/** `at` is the index of its header, `next` that of the line after it. Throws MatrxError `INVALID_PARAMETERS`. */
export function readHunk(
  lines: readonly Line[],
  at: number,
  number: number,
): { readonly hunk: Hunk; readonly next: number } {
  const name = `hunk ${number}`;
  const [range, start = "", oldCount = "1", , newCount = "1"] = RANGE.exec(textAt(lines, at)) ?? [];
  const said = range === undefined ? undefined : { old: Number(oldCount), new: Number(newCount) };
  const first = at + 1;
  const counted = said && endByCounts(lines, first, said);
  if (counted !== undefined && isEnd(lines, counted)) {
    return { hunk: hunkOf(lines.slice(first, counted), name, lineOf(start, said), undefined), next: counted };
  }
  let stop = first;
  while (!endsHunk(lines, stop) && isBody(textAt(lines, stop))) stop++;
  if (!endsHunk(lines, stop)) throw oddLine(stop);
  const end = withoutBlanks(lines, first, stop);
  if (end === first) throw badPatchError("this hunk is empty", at + 1);
  const note = said && noteOf(name, said, countsOf(lines, first, end));
  return { hunk: hunkOf(lines.slice(first, end), name, lineOf(start, said), note), next: stop };
}

/** Whether another hunk or file begins here, or the patch ends. */
function endsHunk(lines: readonly Line[], at: number): boolean {
  const line = lines[at];
  if (!line) return true;
  if (/^(?:@@|diff --git |Index: |From )/.test(line.text)) return true;
  // The line after them tells a file header from changed lines that look like one.
  return (isFileHeader(lines, at) && /^@@|^$/.test(textAt(lines, at + 2))) || isSignature(lines, at);
}

/** Whether the two lines with a file's names begin here. */
export function isFileHeader(lines: readonly Line[], at: number): boolean {
  return textAt(lines, at).startsWith("--- ") && textAt(lines, at + 1).startsWith("+++ ");
}

/** What git writes at the end of a mailed patch: two dashes, and its version. */
function isSignature(lines: readonly Line[], at: number): boolean {
  return /^-- ?$/.test(textAt(lines, at)) && /^\d+(?:\.\d+)+/.test(textAt(lines, at + 1));
}

/** An empty line counts too: its leading space was lost. */
function isBody(text: string): boolean {
  return /^(?:[ +\\-]|$)/.test(text);
}

/** The index after as many lines as the header says; undefined if some are missing. */
function endByCounts(lines: readonly Line[], first: number, said: Counts): number | undefined {
  const counts = { old: 0, new: 0 };
  for (let at = first; counts.old <= said.old && counts.new <= said.new; at++) {
    const text = textAt(lines, at);
    if (counts.old === said.old && counts.new === said.new && !text.startsWith("\\")) return at;
    if (at >= lines.length || !isBody(text)) return undefined;
    count(counts, text);
  }
  return undefined;
}

function countsOf(lines: readonly Line[], first: number, end: number): Counts {
  const counts = { old: 0, new: 0 };
  for (const { text } of lines.slice(first, end)) count(counts, text);
  return counts;
}

function count(counts: { old: number; new: number }, text: string): void {
  if (text.startsWith("\\")) return;
  if (!text.startsWith("+")) counts.old++;
  if (!text.startsWith("-")) counts.new++;
}

/** Whether the hunk ends here. Other text may follow; if changes come after that, something was lost: throws MatrxError. */
function isEnd(lines: readonly Line[], from: number): boolean {
  let at = from;
  while (at < lines.length && textAt(lines, at) === "") at++;
  if (endsHunk(lines, at)) return true;
  if (isBody(textAt(lines, at))) return false;
  for (let rest = at; !endsHunk(lines, rest); rest++) {
    if (/^[+-](?!--? )/.test(textAt(lines, rest))) throw oddLine(at);
  }
  return true;
}

function withoutBlanks(lines: readonly Line[], first: number, stop: number): number {
  let end = stop;
  while (end > first && textAt(lines, end - 1) === "") end--;
  return end;
}

function oddLine(at: number) {
  return badPatchError('a line of a hunk must begin with " ", "-" or "+"', at + 1);
}

/** 0 if there was no text. */
function lineOf(start: string, said: Counts | undefined): number | undefined {
  const line = Number(start);
  return said && (said.old > 0 || line === 0) ? line : undefined;
}

function noteOf(name: string, said: Counts, found: Counts): string {
  return `${name} declares ${said.old} old and ${said.new} new lines, but has ${found.old} and ${found.new}`;
}

function hunkOf(
  lines: readonly Line[],
  name: string,
  line: number | undefined,
  note: string | undefined,
): Hunk {
  const endless = { old: false, new: false };
  const read: HunkLine[] = [];
  for (const { text, end } of lines) {
    const mark = text.slice(0, 1);
    if (mark !== "\\") {
      read.push({ kind: LINE_KINDS[mark] ?? "same", text: text.slice(1), end: end === "\r\n" ? end : "\n" });
      continue;
    }
    const last = read.pop();
    if (!last) continue;
    if (last.kind !== "new") endless.old = true;
    if (last.kind !== "old") endless.new = true;
    // The line feed is the patch's own; the carriage return before it is the file's.
    read.push(last.end === "\r\n" ? { ...last, text: `${last.text}\r`, end: "\n" } : last);
  }
  const atEnd = endless.old || endless.new;
  const blanks = lines.length - withoutBlanks(lines, 0, lines.length);
  return { name, lines: read, line, headers: [], atEnd, endless, blanks, note };
}

function textAt(lines: readonly Line[], at: number): string {
  return lines[at]?.text ?? "";
}
