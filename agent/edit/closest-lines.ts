/** Lines of a file that are most like a text that it does not hold. For messages only. */

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
const MOST_COMPARED = 50_000;

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

/** Lines of a beginning that are compared. */
const MOST_FITTING = 200;

/** Where the most whole lines of a text fit, from its first on, and the first one that does not. */
export function longestBeginning(
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
