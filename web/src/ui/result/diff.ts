/** Lines of a unified diff, told apart: what was added, what was taken away, and what only says where. */

export type DiffKind = "added" | "removed" | "same" | "place";

export interface DiffLine {
  readonly kind: DiffKind;
  readonly text: string;
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
const ANY_HUNK = new RegExp(HUNK, "m");
/** Characters in which a diff would begin. */
const LOOKED_AT = 200_000;

/** Whether a text has hunks of a unified diff. */
export function hasDiff(text: string): boolean {
  return ANY_HUNK.test(text.slice(0, LOOKED_AT));
}

export function diffLines(text: string): DiffLine[] {
  const reader = new HunkReader();
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => ({ kind: reader.take(line), text: line }));
}

/** Tells content from headers by the hunks' own counts: a removed line may well begin with `---`. */
class HunkReader {
  #before = 0;
  #after = 0;

  take(line: string): DiffKind {
    if (this.#before <= 0 && this.#after <= 0) return this.#outside(line);
    const sign = line.charAt(0);
    if (sign === "\\") return "place";
    if (sign !== "+") this.#before--;
    if (sign !== "-") this.#after--;
    if (sign === "+") return "added";
    return sign === "-" ? "removed" : "same";
  }

  #outside(line: string): DiffKind {
    const counts = HUNK.exec(line);
    if (counts) [this.#before, this.#after] = [Number(counts[1] ?? 1), Number(counts[2] ?? 1)];
    return "place";
  }
}
