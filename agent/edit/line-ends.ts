/** Line ends: a text is searched as if all were `\n`, and what is put into it gets those that stand there. */
import { diffArrays } from "diff";

export function withPlainEnds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Which line ends a text has. */
export function endsOf(text: string): "lf" | "crlf" | "mixed" | "none" {
  const all = countOf("\n", text);
  const crlf = countOf("\r\n", text);
  if (all === 0) return "none";
  return crlf === 0 ? "lf" : crlf === all ? "crlf" : "mixed";
}

function countOf(wanted: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) count++;
  return count;
}

/** Ascending places of a text with plain ends, as places of the text itself. */
export function placesInOriginal(original: string, places: readonly number[]): number[] {
  let before = 0;
  let next = original.indexOf("\r\n");
  return places.map((place) => {
    while (next !== -1 && next - before < place) {
      before++;
      next = original.indexOf("\r\n", next + 2);
    }
    return place + before;
  });
}

/** A comparison of more changed lines is given up: the ends are then taken in order. */
const MOST_CHANGES = 500;

/** Gives what is to replace a piece of a text: `from` and `to` are places in it, and ascend from one to the next. */
type Fit = (from: number, to: number, replacement: string) => string;

/**
 * Line ends of a replacement become those that are there: of the piece itself if it has any, else of its neighbours. In a
 * text without any, the replacement keeps its own.
 */
export function fittingEnds(units: string): Fit {
  const neighbouringEnd = neighbouringEnds(units);
  return (from, to, replacement) => {
    if (!replacement.includes("\n")) return replacement;
    const plain = withPlainEnds(replacement);
    const old = linesOf(units.slice(from, to));
    const ends = new Set(old.map(({ end }) => end).filter((end) => end !== ""));
    if (ends.size > 1) return withMixedEnds(old, plain.split("\n"));
    const [end = neighbouringEnd(to)] = ends;
    return end === undefined ? replacement : plain.replaceAll("\n", end);
  };
}

export type LineEnd = "\n" | "\r\n" | "";

export interface Line {
  readonly text: string;
  readonly end: LineEnd;
}

/** Lines of a text; after a line end at the very end there is one more, empty line. */
export function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let from = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
    const crlf = at > from && text[at - 1] === "\r";
    lines.push({ text: text.slice(from, crlf ? at - 1 : at), end: crlf ? "\r\n" : "\n" });
    from = at + 1;
  }
  lines.push({ text: text.slice(from), end: "" });
  return lines;
}

/** For ascending places: the end of the line in which one stands, else the last end of the text. */
function neighbouringEnds(units: string): (place: number) => LineEnd | undefined {
  const last = units.lastIndexOf("\n");
  let next = -1;
  return (place) => {
    if (last === -1) return undefined;
    if (next < place) next = place > last ? last : units.indexOf("\n", place);
    return next > 0 && units[next - 1] === "\r" ? "\r\n" : "\n";
  };
}

/** Lines that stay keep their ends; new ones get that of the line in whose place they stand. */
function withMixedEnds(old: readonly Line[], texts: readonly string[]): string {
  const ends = endsAfterDiff(old, texts) ?? texts.map((_, index) => old[index]?.end);
  let last: LineEnd = old.find(({ end }) => end !== "")?.end ?? "\n";
  return texts
    .map((text, index) => {
      if (index === texts.length - 1) return text;
      last = ends[index] || last;
      return text + last;
    })
    .join("");
}

function endsAfterDiff(old: readonly Line[], texts: readonly string[]): (LineEnd | undefined)[] | undefined {
  const oldTexts = old.map(({ text }) => text);
  // Without a timeout: what is written must not hang on how busy the machine is.
  const changes = diffArrays(oldTexts, [...texts], { maxEditLength: MOST_CHANGES });
  if (!changes) return undefined;
  const ends: (LineEnd | undefined)[] = [];
  let at = 0;
  let replaced: LineEnd[] = [];
  for (const { added, removed, count } of changes) {
    const here = old.slice(at, at + count).map(({ end }) => end);
    if (removed) replaced = here;
    else {
      for (let index = 0; index < count; index++) ends.push((added ? replaced : here)[index]);
      replaced = [];
    }
    if (!added) at += count;
  }
  return ends;
}
