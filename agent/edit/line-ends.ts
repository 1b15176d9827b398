/** Line ends: a text is searched as if all of them were `\n`, and replacements get the line ends of their surroundings. */
import { diffArrays } from "diff";

export function withPlainEnds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** The line ends of a text. */
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

/** Turns ascending positions in a text with plain line ends into positions in the original. */
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

/** A comparison with more changed lines is given up; line ends are then assigned in order. */
const MOST_CHANGES = 500;

/** Adapts a replacement to the piece of text between `from` and `to`. Must be called with ascending positions. */
type Fit = (from: number, to: number, replacement: string) => string;

/**
 * Gives a replacement the line ends of the piece that it replaces; if that has none, those of the lines around it. In a
 * text without line ends, the replacement keeps its own.
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

/** Lines of a text; a line end at the very end is followed by one more, empty line. */
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

/** For ascending positions: the end of the line at that position, else the last line end of the text. */
function neighbouringEnds(units: string): (place: number) => LineEnd | undefined {
  const last = units.lastIndexOf("\n");
  let next = -1;
  return (place) => {
    if (last === -1) return undefined;
    if (next < place) next = place > last ? last : units.indexOf("\n", place);
    return next > 0 && units[next - 1] === "\r" ? "\r\n" : "\n";
  };
}

/** Unchanged lines keep their ends; a new line gets that of the line it replaces. */
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
  // No timeout: what is written must not depend on how busy the machine is.
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
