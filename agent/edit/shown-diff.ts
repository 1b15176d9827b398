/** What an edit changed, as a unified diff of bounded length. */

import { shownText, type UnitText } from "./code-units.ts";
import { diffLines } from "./line-diff.ts";
import { withPlainEnds } from "./line-ends.ts";

const MOST_LINES = 200;
const MOST_CHARS = 16_000;
const LINE_CHARS = 500;

export interface ShownDiff {
  readonly text: string;
  /** Absent: the texts differ too much for counting. */
  readonly added?: number;
  readonly removed?: number;
  readonly cut: boolean;
}

/** `after` are the units of the same file, edited. */
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
