/** The error for a text that was not found: where something similar is, and how it differs. */
import type { MatrxError } from "@matrx/shared/errors.ts";
import { plainSpelling } from "../text/confusables.ts";
import { toolName } from "../text/tool-names.ts";
import { shownText, type UnitText, unitsFor } from "./code-units.ts";
import { notInEncoding, refused, type Subject } from "./errors.ts";
import { withPlainEnds } from "./line-ends.ts";

/** How much of a file is searched for something similar, in units. */
const SEARCHED_UNITS = 1024 * 1024;

interface NotFound {
  /** What messages call the text. */
  readonly name: string;
  readonly old: string;
}

export function noMatchError(text: UnitText, { name, old }: NotFound, subject: Subject): MatrxError {
  if (unitsFor(old, text.encoding) === undefined) return notInEncoding(text.encoding, name, old, subject);
  const message = `${name} was not found in ${subject.shown}`;
  const hint = old.includes("\ufffd")
    ? `${toolName("Read")} shows bytes that are not text as \ufffd, which never matches: give text without them`
    : "Read the file again, and copy the text from it exactly";
  if (!subject.mayQuote) return refused(subject, "not_found", `${message}. Nothing was changed`, hint);
  const content = withPlainEnds(shownText(text.units.slice(0, SEARCHED_UNITS), text.encoding));
  const wanted = withPlainEnds(old);
  const difference = differenceOf(wanted, content);
  if (difference) {
    const { line, what, hint: how } = difference;
    const found = `${message}; line ${line} is similar, but ${what}. Nothing was changed`;
    return refused(subject, "not_found", found, how ?? hint, { line });
  }
  const lines = content.split("\n");
  const begun = longestBeginning(wanted.split("\n"), lines);
  if (begun) {
    const found = `${message}: it matches from line ${begun.line} on, but line ${begun.differs} is ${begun.text}. Nothing was changed`;
    return refused(subject, "not_found", found, hint, begun);
  }
  const suggestions = closestLines(wanted, lines);
  const part = text.units.length > SEARCHED_UNITS ? " of its beginning" : "";
  const list = suggestions.map(
    ({ line, percent, text: shown }) => `\n  line ${line} (${percent}%): ${shown}`,
  );
  return refused(
    subject,
    "not_found",
    `${message}. Nothing was changed${list.length > 0 ? `. The closest lines${part} are:${list.join("")}` : ""}`,
    hint,
    suggestions.length > 0 ? { suggestions } : {},
  );
}

interface Difference {
  readonly line: number;
  readonly what: string;
  readonly hint?: string;
}

/** The first kind of difference that is the only one. */
function differenceOf(wanted: string, content: string): Difference | undefined {
  // Nothing differs: what was looked for must be elsewhere than where it is.
  if (content.includes(wanted)) return undefined;
  return lineNumbers(wanted, content) ?? spelling(wanted, content) ?? blanks(wanted, content);
}

/** As `Read` shows them. */
const LINE_NUMBER = /^ *-?\d+\t/;

function lineNumbers(wanted: string, content: string): Difference | undefined {
  const lines = wanted.split("\n");
  if (!lines.every((line, index) => LINE_NUMBER.test(line) || (line === "" && index > 0))) return undefined;
  const at = content.indexOf(lines.map((line) => line.replace(LINE_NUMBER, "")).join("\n"));
  if (at === -1) return undefined;
  const what = `your text includes the line numbers that ${toolName("Read")} shows`;
  return { line: lineOf(content, at), what, hint: "Omit the line numbers and the tab after them" };
}

function spelling(wanted: string, content: string): Difference | undefined {
  const at = plainSpelling(content).indexOf(plainSpelling(wanted));
  if (at === -1) return undefined;
  const what = "quotes, dashes, spaces or accents are different characters that look alike";
  return { line: lineOf(plainSpelling(content), at), what };
}

/** The lines are the same except for white space at their beginnings and ends. */
function blanks(wanted: string, content: string): Difference | undefined {
  const trimmed = (text: string) =>
    `\n${text
      .split("\n")
      .map((line) => line.trim())
      .join("\n")}\n`;
  if (wanted.trim() === "") return undefined;
  const all = trimmed(content);
  const place = all.indexOf(trimmed(wanted));
  if (place === -1) return undefined;
  const at = lineOf(all, place) - 1;
  const lines = content.split("\n");
  const searched = wanted.split("\n");
  const differs = searched.findIndex((line, index) => line !== lines[at + index]);
  if (differs === -1) return undefined;
  return {
    line: at + differs + 1,
    what: blankDifference(searched[differs] ?? "", lines[at + differs] ?? ""),
  };
}

function blankDifference(given: string, found: string): string {
  const indentation = (line: string) => /^\s*/.exec(line)?.[0] ?? "";
  if (indentation(given) !== indentation(found)) {
    return `the indentation differs (the file has ${blankInWords(indentation(found))}, old_string has ${blankInWords(indentation(given))})`;
  }
  return "the white space at the end of the line differs";
}

/** Such as "4 spaces" or "1 tab". */
function blankInWords(blank: string): string {
  const count = (character: string, name: string) => {
    const found = blank.split(character).length - 1;
    return found === 0 ? [] : [`${found} ${name}${found === 1 ? "" : "s"}`];
  };
  const parts = [...count("\t", "tab"), ...count(" ", "space")];
  return parts.join(" and ") || (blank === "" ? "none" : `${blank.length} other blanks`);
}

/** A line that resembles the text. For messages only. */
interface CloseLine {
  /** From 1. */
  readonly line: number;
  readonly percent: number;
  readonly text: string;
}

const MOST_SHOWN = 3;
const LEAST_PERCENT = 50;
/** How many characters of a line are compared and shown. */
const LINE_CHARS = 200;
const MOST_COMPARED = 50_000;

function closestLines(wanted: string, lines: readonly string[]): CloseLine[] {
  const first = wanted.split("\n").find((line) => line.trim() !== "");
  if (first === undefined) return [];
  const pairs = pairsOf(first);
  return lines
    .slice(0, MOST_COMPARED)
    .map((text, index) => ({ line: index + 1, percent: likeness(pairs, text), text: cut(text) }))
    .filter(({ percent }) => percent >= LEAST_PERCENT)
    .sort((a, b) => b.percent - a.percent || a.line - b.line)
    .slice(0, MOST_SHOWN);
}

/** How many matching lines are counted. */
const MOST_FITTING = 200;

/** Where the most lines of a text match, counted from its first, and the first line that differs. */
function longestBeginning(
  wanted: readonly string[],
  lines: readonly string[],
): { line: number; differs: number; text: string } | undefined {
  let best = 0;
  let bestAt = 0;
  for (let at = 0; at < Math.min(lines.length, MOST_COMPARED); at++) {
    let fitting = 0;
    while (fitting < MOST_FITTING && wanted[fitting] !== undefined && lines[at + fitting] === wanted[fitting])
      fitting++;
    if (fitting <= best) continue;
    best = fitting;
    bestAt = at;
  }
  if (wanted.slice(0, best).every((line) => line.trim() === "") || best >= MOST_FITTING) return undefined;
  const next = lines[bestAt + best];
  const text = next === undefined ? "not there: the file ends" : JSON.stringify(cut(next));
  return { line: bestAt + 1, differs: bestAt + best + 1, text };
}

interface Pairs {
  readonly counts: ReadonlyMap<string, number>;
  readonly total: number;
}

/** Pairs of neighbouring characters, and how often each occurs. */
function pairsOf(line: string): Pairs {
  const text = ` ${line.trim().slice(0, LINE_CHARS)} `;
  const counts = new Map<string, number>();
  for (let at = 0; at + 1 < text.length; at++) {
    const pair = text.slice(at, at + 2);
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return { counts, total: text.length - 1 };
}

/** Percentage of pairs that two lines share (Dice coefficient). */
function likeness(wanted: Pairs, line: string): number {
  const shorter = Math.min(line.length, LINE_CHARS);
  if (shorter * 4 < wanted.total) return 0;
  const { counts, total } = pairsOf(line);
  let shared = 0;
  for (const [pair, count] of counts) shared += Math.min(count, wanted.counts.get(pair) ?? 0);
  return Math.round((200 * shared) / (wanted.total + total));
}

function cut(line: string): string {
  return line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS).toWellFormed()}…` : line;
}

function lineOf(text: string, place: number): number {
  return text.slice(0, place).split("\n").length;
}
