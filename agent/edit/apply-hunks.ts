/** Changes a file's text by hunks. Their lines must stand there exactly; nothing is guessed. */
import { absent } from "./absent.ts";
import { type Line, type LineEnd, linesOf } from "./line-ends.ts";
import { search } from "./occurrences.ts";
import type { Hunk } from "./patch.ts";
import { notInEncoding, refused, type Subject } from "./refusals.ts";
import { type UnitText, unitsFor } from "./units.ts";

interface WantedLine {
  readonly kind: "same" | "old" | "new";
  readonly units: string;
}

/** The units of the changed text. Throws MatrxError. */
export function applyHunks(text: UnitText, hunks: readonly Hunk[], subject: Subject): string {
  const lines = linesOf(text.units);
  const isEndless = lines.at(-1)?.text !== "";
  if (!isEndless) lines.pop();
  const texts = lines.map((line) => line.text);
  const result: NewLine[] = [];
  let done = 0;
  for (const hunk of hunks) {
    const wanted = wantedLines(text, hunk, subject);
    const at = placeOf(text, texts, done, hunk, wanted, subject);
    keep(result, lines, done, at);
    done = at + replaceLines(result, lines, at, wanted);
  }
  keep(result, lines, done, lines.length);
  return withEnds(result, lines, { isEndless, ...saidOfEnd(hunks) });
}

/** Appends lines that no hunk is about: there may be more than a call takes arguments. */
function keep(result: NewLine[], lines: readonly Line[], from: number, to: number): void {
  for (const line of lines.slice(from, to)) result.push(line);
}

function wantedLines({ encoding }: UnitText, hunk: Hunk, subject: Subject): WantedLine[] {
  return hunk.lines.map(({ kind, text }) => {
    const units = unitsFor(text, encoding);
    if (units === undefined) throw notInEncoding(encoding, hunk.name, text, subject);
    return { kind, units };
  });
}

/** Index of the line where a hunk's old lines begin, or where its new ones go. */
function placeOf(
  text: UnitText,
  lines: readonly string[],
  from: number,
  hunk: Hunk,
  wanted: readonly WantedLine[],
  subject: Subject,
): number {
  const old = wanted.filter(({ kind }) => kind !== "new").map(({ units }) => units);
  const start = afterHeaders(text, lines, from, hunk, subject);
  if (old.length === 0) return placeWithoutContext(lines, start, hunk, subject);
  const isAt = (at: number) =>
    at >= start &&
    (!hunk.atEnd || at + old.length === lines.length) &&
    old.every((units, index) => lines[at + index] === units);
  const said = hunk.line === undefined ? -1 : hunk.line - 1;
  if (isAt(said)) return said;
  const places = hunk.atEnd ? [lines.length - old.length].filter(isAt) : [...search(old, lines, start)];
  const [place] = places;
  if (place === undefined) {
    const shown = hunk.lines.filter(({ kind }) => kind !== "new").map((line) => line.text);
    throw absent(text, { name: `The old text of ${hunk.name}`, old: shown.join("\n") }, subject);
  }
  if (places.length > 1) throw severalPlaces(hunk, places, subject);
  return place;
}

/** Index of the line after the ones that a hunk names before it. */
function afterHeaders(
  { encoding }: UnitText,
  lines: readonly string[],
  from: number,
  { headers, name }: Hunk,
  subject: Subject,
): number {
  let at = from;
  for (const header of headers) {
    const units = unitsFor(header, encoding);
    let found = at;
    while (found < lines.length && lines[found]?.trim() !== units) found++;
    if (found === lines.length) {
      throw refused(
        subject,
        "not_found",
        `The line "@@ ${header}" of ${name} does not stand in ${subject.shown}${at > 0 ? ` below line ${at}` : ""}. Nothing was changed`,
        "Name a line that stands there whole, or leave it out and give more lines around the change",
        { header },
      );
    }
    at = found + 1;
  }
  return at;
}

function placeWithoutContext(lines: readonly string[], start: number, hunk: Hunk, subject: Subject): number {
  if (hunk.atEnd || lines.length === 0) return lines.length;
  if (hunk.headers.length > 0) return start;
  throw refused(
    subject,
    "no_context",
    `${hunk.name} has only new lines for ${subject.shown}, so it does not show where they go. Nothing was changed`,
    "Give the lines before or after them, too",
  );
}

function severalPlaces({ name }: Hunk, places: readonly number[], subject: Subject) {
  const lines = places.map((at) => at + 1);
  return refused(
    subject,
    "not_unique",
    `The old text of ${name} stands ${places.length} times in ${subject.shown}: at lines ${lines.slice(0, 20).join(", ")}${lines.length > 20 ? " and further on" : ""}. Nothing was changed`,
    "Give more lines around the one that is meant",
    { occurrences: places.length, lines: lines.slice(0, 20) },
  );
}

/** A line of the file, or, without an end, a new one. */
type NewLine = { readonly text: string; readonly end: LineEnd | undefined };

/** Appends what stands there after a hunk; gives the number of lines that it covers. */
function replaceLines(
  result: NewLine[],
  lines: readonly Line[],
  at: number,
  wanted: readonly WantedLine[],
): number {
  let covered = 0;
  /** Ends of lines that were taken out, for those that come in their place. */
  let free: LineEnd[] = [];
  for (const { kind, units } of wanted) {
    const line = lines[at + covered];
    if (kind === "new") {
      result.push({ text: units, end: free.shift() || undefined });
      continue;
    }
    if (kind === "old") free.push(line?.end ?? "");
    else {
      free = [];
      result.push(line ?? { text: units, end: undefined });
    }
    covered++;
  }
  return covered;
}

interface FileEnd {
  /** The file's last line had no end. */
  readonly isEndless: boolean;
  /** What the patch says of the new last line; undefined: nothing. */
  readonly said: "endless" | "ended" | undefined;
}

function saidOfEnd(hunks: readonly Hunk[]): Pick<FileEnd, "said"> {
  const endless = hunks.at(-1)?.endless;
  return { said: endless?.new ? "endless" : endless?.old ? "ended" : undefined };
}

/** All lines with ends: their own, else as the lines around them; the last one as the file or the patch has it. */
function withEnds(result: readonly NewLine[], lines: readonly Line[], { isEndless, said }: FileEnd): string {
  let usual: LineEnd = lines.find(({ end }) => end !== "")?.end ?? "\n";
  return result
    .map(({ text, end }, index) => {
      const isLast = index === result.length - 1;
      if (isLast && said === "endless") return text;
      if (isLast && said === undefined && (end === "" || (end === undefined && isEndless))) return text;
      usual = end || usual;
      return text + usual;
    })
    .join("");
}
