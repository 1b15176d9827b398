/** Applies hunks to a file's text. Their old lines must match exactly; nothing is guessed. */
import type { MatrxError } from "@matrx/shared/errors.ts";
import { type UnitText, unitsFor } from "./code-units.ts";
import { notInEncoding, refused, type Subject } from "./errors.ts";
import { fittingEnds, type Line, type LineEnd, linesOf } from "./line-ends.ts";
import { noMatchError } from "./no-match.ts";
import type { Hunk, HunkLine } from "./patch-types.ts";
import { type Cut, type Edited, search } from "./replace.ts";

interface WantedLine extends Pick<HunkLine, "kind" | "end"> {
  readonly units: string;
}

/** Throws MatrxError if a hunk doesn't match. */
export function applyHunks(text: UnitText, hunks: readonly Hunk[], subject: Subject): Edited {
  const lines = linesOf(text.units);
  const isEndless = lines.at(-1)?.text !== "";
  if (!isEndless) lines.pop();
  const texts = new LineTexts(lines);
  const result: NewLine[] = [];
  const cuts: Cut[] = [];
  const cutLines = lineCutter(text.units, lines);
  let done = 0;
  for (const [by, hunk] of hunks.entries()) {
    const { at, wanted } = placeOf(text, texts, done, hunk, subject);
    keep(result, lines, done, at);
    cuts.push(...cutLines(at, wanted, by));
    done = at + replaceLines(result, lines, at, wanted);
  }
  keep(result, lines, done, lines.length);
  return { units: withEnds(result, lines, { isEndless, ...saidOfEnd(hunks) }), cuts };
}

/** Turns ascending hunks into cuts: each from the beginning of a line to that of another, or from one end to another at the end. */
function lineCutter(units: string, lines: readonly Line[]) {
  const starts = [0];
  for (const { text, end } of lines) starts.push((starts.at(-1) ?? 0) + text.length + end.length);
  const fit = fittingEnds(units);
  return (first: number, wanted: readonly WantedLine[], by: number): Cut[] => {
    const cuts: Cut[] = [];
    let at = first;
    for (let index = 0; index < wanted.length; ) {
      if (wanted[index]?.kind === "same") {
        at++;
        index++;
        continue;
      }
      const changes = runFrom(wanted, index);
      const end = at + changes.filter(({ kind }) => kind === "old").length;
      const added = changes.filter(({ kind }) => kind === "new").map((line) => line.units);
      const isLast = end >= lines.length && lines.at(-1)?.end === "";
      const from = (starts[at] ?? units.length) - (isLast && at > 0 ? (lines[at - 1]?.end.length ?? 0) : 0);
      const to = starts[end] ?? units.length;
      const text = added.map((line) => (isLast && at > 0 ? `\n${line}` : `${line}\n`)).join("");
      cuts.push({ from, to, units: fit(from, to, text), by });
      at = end;
      index += changes.length;
    }
    return cuts;
  };
}

/** The lines from there on that are old or new. */
function runFrom(wanted: readonly WantedLine[], index: number): readonly WantedLine[] {
  const end = wanted.findIndex(({ kind }, at) => at >= index && kind === "same");
  return wanted.slice(index, end === -1 ? undefined : end);
}

/** Appends lines that no hunk changes, one by one: there may be more of them than a call can have arguments. */
function keep(result: NewLine[], lines: readonly Line[], from: number, to: number): void {
  for (const line of lines.slice(from, to)) result.push({ ...line, isNew: false });
}

function wantedLines({ encoding }: UnitText, hunk: Hunk, subject: Subject): WantedLine[] {
  return hunk.lines.map(({ kind, text, end }) => {
    const units = unitsFor(text, encoding);
    if (units === undefined) throw notInEncoding(encoding, hunk.name, text, subject);
    return { kind, units, end };
  });
}

/** Where a hunk's old lines begin, or its new ones go (the index of a line), with its lines. */
interface Fit {
  readonly at: number;
  readonly wanted: readonly WantedLine[];
}

function placeOf(text: UnitText, lines: LineTexts, from: number, hunk: Hunk, subject: Subject): Fit {
  const wanted = wantedLines(text, hunk, subject);
  const start = afterHeaders(text, lines.exact, from, hunk, subject);
  if (oldUnits(wanted).length === 0) {
    return { at: placeWithoutContext(lines.exact, start, hunk, subject), wanted };
  }
  const fits =
    fitsOf(lines, wanted, start, hunk) ??
    // Blank lines after a hunk need not belong to it.
    (hunk.blanks > 0 ? fitsOf(lines, wanted.slice(0, -hunk.blanks), start, hunk) : undefined);
  if (!fits) {
    const misplaced = misplacedError(lines, wanted, hunk, { start, from }, subject);
    if (misplaced) throw misplaced;
    const shown = hunk.lines.filter(({ kind }) => kind !== "new").map((line) => line.text);
    throw noMatchError(text, { name: `The old text of ${hunk.name}`, old: shown.join("\n") }, subject);
  }
  const [fit, ...others] = fits;
  if (others.length > 0) {
    throw severalPlaces(
      hunk,
      fits.map(({ at }) => at),
      subject,
    );
  }
  return fit;
}

/** Why the old text may not be where it is; undefined if it is nowhere. */
function misplacedError(
  lines: LineTexts,
  wanted: readonly WantedLine[],
  hunk: Hunk,
  { start, from }: { readonly start: number; readonly from: number },
  subject: Subject,
): MatrxError | undefined {
  const [first] = fitsOf(lines, wanted, 0, { ...hunk, atEnd: false, line: undefined }) ?? [];
  if (!first) return undefined;
  const line = first.at + 1;
  const [where, hint] =
    hunk.atEnd && first.at >= start
      ? ["not at the end of the file", 'Leave out "*** End of File", or give the last lines']
      : first.at < from
        ? ["above or within the hunk before it", "Give the hunks of a file in the order of its lines"]
        : [`above the line "@@ ${hunk.headers.at(-1)}"`, "Give a line that is above the change, or none"];
  return refused(
    subject,
    "misplaced",
    `The old text of ${hunk.name} is at line ${line} of ${subject.shown}, ${where}. Nothing was changed`,
    hint,
    { line },
  );
}

function oldUnits(wanted: readonly WantedLine[]): string[] {
  return wanted.filter(({ kind }) => kind !== "new").map(({ units }) => units);
}

/** Exact matches; without any, matches that ignore white space at the ends of lines. Undefined if there are none. */
function fitsOf(
  lines: LineTexts,
  wanted: readonly WantedLine[],
  start: number,
  hunk: Hunk,
): readonly [Fit, ...Fit[]] | undefined {
  const old = oldUnits(wanted);
  if (old.length === 0) return undefined;
  const exact = placesOf(lines.exact, old, start, hunk);
  const places = exact.length > 0 ? exact : placesOf(lines.trimmed, old.map(withoutBlanks), start, hunk);
  const [first, ...others] = places.map((at) => ({ at, wanted }));
  return first && [first, ...others];
}

/** The line that the hunk names if its old lines are there, else every line where they are. */
function placesOf(lines: readonly string[], old: readonly string[], start: number, hunk: Hunk): number[] {
  const isAt = (at: number) =>
    at >= start &&
    (!hunk.atEnd || at + old.length === lines.length) &&
    old.every((units, index) => lines[at + index] === units);
  const said = hunk.line === undefined ? -1 : hunk.line - 1;
  if (isAt(said)) return [said];
  return hunk.atEnd ? [lines.length - old.length].filter(isAt) : [...search(old, lines, start)];
}

/** A file's lines without their ends. */
class LineTexts {
  readonly exact: readonly string[];
  #trimmed: readonly string[] | undefined;

  constructor(lines: readonly Line[]) {
    this.exact = lines.map(({ text }) => text);
  }

  /** Also without white space at their ends, because patches often lose it. */
  get trimmed(): readonly string[] {
    this.#trimmed ??= this.exact.map(withoutBlanks);
    return this.#trimmed;
  }
}

function withoutBlanks(line: string): string {
  let end = line.length;
  while (end > 0 && BLANKS.has(line[end - 1] ?? "")) end--;
  return line.slice(0, end);
}

const BLANKS = new Set([" ", "\t", "\r"]);

/** Index of the line after the last of a hunk's `@@` headers. */
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
    const found = units === undefined ? undefined : headerLine(lines, at, units);
    if (found === undefined) {
      throw refused(
        subject,
        "not_found",
        `The line "@@ ${header}" of ${name} was not found in ${subject.shown}${at > 0 ? ` below line ${at}` : ""}. Nothing was changed`,
        "Use a line that is there, or omit it and give more lines around the change",
        { header },
      );
    }
    at = found + 1;
  }
  return at;
}

/** The first line that equals the header, else the only one that begins with it. */
function headerLine(lines: readonly string[], from: number, header: string): number | undefined {
  const found: number[] = [];
  for (let at = from; at < lines.length; at++) {
    const line = lines[at]?.trim() ?? "";
    if (line === header) return at;
    // The header must not end in the middle of a name.
    if (line.startsWith(header) && !/^\w/.test(line.slice(header.length))) found.push(at);
  }
  return found.length === 1 ? found[0] : undefined;
}

function placeWithoutContext(lines: readonly string[], start: number, hunk: Hunk, subject: Subject): number {
  if (hunk.atEnd || lines.length === 0) return lines.length;
  if (hunk.headers.length > 0) return start;
  throw refused(
    subject,
    "no_context",
    `${hunk.name} has only new lines for ${subject.shown}, so it is unclear where they go. Nothing was changed`,
    "Give the lines before or after them too",
  );
}

function severalPlaces({ name }: Hunk, places: readonly number[], subject: Subject) {
  const lines = places.map((at) => at + 1);
  return refused(
    subject,
    "not_unique",
    `The old text of ${name} occurs ${places.length} times in ${subject.shown}: at lines ${lines.slice(0, 20).join(", ")}${lines.length > 20 ? " and further on" : ""}. Nothing was changed`,
    "Give more lines around the one you mean",
    { occurrences: places.length, lines: lines.slice(0, 20) },
  );
}

/** A line of the result. Without an `end`, it gets that of the lines around it. */
interface NewLine {
  readonly text: string;
  readonly end: LineEnd | undefined;
  readonly isNew: boolean;
}

/** Appends a hunk's result. Returns how many lines of the file it replaces. */
function replaceLines(
  result: NewLine[],
  lines: readonly Line[],
  at: number,
  wanted: readonly WantedLine[],
): number {
  let covered = 0;
  const isExact = knowsEnds(lines, at, wanted);
  /** Ends of removed lines, for the new lines that replace them. */
  let free: LineEnd[] = [];
  for (const { kind, units, end } of wanted) {
    const line = lines[at + covered];
    if (kind === "new") {
      result.push({ text: units, end: isExact ? end : free.shift() || undefined, isNew: true });
      continue;
    }
    if (kind === "old") free.push(line?.end ?? "");
    else {
      free = [];
      result.push({ text: units, end: undefined, ...line, isNew: false });
    }
    covered++;
  }
  return covered;
}

/** Whether the hunk has the file's line ends: then those of its new lines are meant as well. */
function knowsEnds(lines: readonly Line[], at: number, wanted: readonly WantedLine[]): boolean {
  const pairs = wanted
    .filter(({ kind }) => kind !== "new")
    .map(({ end }, index) => ({ end, found: lines[at + index]?.end }))
    .filter(({ found }) => found);
  if (pairs.length === 0) return wanted.some(({ end }) => end === "\r\n");
  return pairs.every(({ end, found }) => end === found);
}

interface FileEnd {
  /** Whether the file's last line has no end. */
  readonly isEndless: boolean;
  /** What the patch says about the end of the new last line, if anything. */
  readonly said: "endless" | "ended" | undefined;
}

function saidOfEnd(hunks: readonly Hunk[]): Pick<FileEnd, "said"> {
  const endless = hunks.at(-1)?.endless;
  return { said: endless?.new ? "endless" : endless?.old ? "ended" : undefined };
}

/** Joins the lines: each with its own end, else that of the lines around it; the last as the file or the patch says. */
function withEnds(result: readonly NewLine[], lines: readonly Line[], { isEndless, said }: FileEnd): string {
  let usual: LineEnd = lines.find(({ end }) => end !== "")?.end ?? "\n";
  return result
    .map(({ text, end, isNew }, index) => {
      const isLast = index === result.length - 1;
      if (isLast && said === "endless") return text;
      if (isLast && said === undefined && (end === "" || (isNew && isEndless))) return text;
      usual = end || usual;
      return text + usual;
    })
    .join("");
}
