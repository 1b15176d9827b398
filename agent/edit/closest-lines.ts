/** Lines of a file that are most like the first line of a text that it does not hold. For messages only. */

export interface CloseLine {
  /** Counted from 1. */
  readonly line: number;
  readonly percent: number;
  readonly text: string;
}

const MOST_SHOWN = 3;
const LEAST_PERCENT = 50;
/** Characters compared and shown of a line. */
const LINE_CHARS = 200;
const MOST_COMPARED = 100_000;

export function closestLines(wanted: string, lines: readonly string[]): CloseLine[] {
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

interface Pairs {
  readonly counts: ReadonlyMap<string, number>;
  readonly total: number;
}

/** Pairs of neighbouring characters, and how often each stands there. */
function pairsOf(line: string): Pairs {
  const text = ` ${line.trim().slice(0, LINE_CHARS)} `;
  const counts = new Map<string, number>();
  for (let at = 0; at + 1 < text.length; at++) {
    const pair = text.slice(at, at + 2);
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return { counts, total: text.length - 1 };
}

/** Percentage of pairs that two lines share (Dice). */
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
