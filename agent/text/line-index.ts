/** Remembers where some lines of recently read files begin, so that later pages need not be searched for from the start. */
import type { BigIntStats } from "node:fs";
import type { LineStart } from "./lines.ts";

/** Minimum distance between remembered starts, in bytes. */
const SPACING = 1024 * 1024;
const MOST_FILES = 32;

/** Identifies a file's content. */
export type FileState = Pick<BigIntStats, "dev" | "ino" | "size" | "mtimeNs">;

export class LineIndex {
  readonly #starts = new Map<string, LineStart[]>();

  /** The last remembered start at or before a line. */
  before(file: FileState, line: number): LineStart | undefined {
    return this.#starts.get(keyOf(file))?.findLast((start) => start.line <= line);
  }

  note(file: FileState, start: LineStart): void {
    const key = keyOf(file);
    const starts = this.#starts.get(key) ?? [];
    if (start.offset < (starts.at(-1)?.offset ?? 0) + SPACING) return;
    starts.push(start);
    this.#starts.delete(key);
    this.#starts.set(key, starts);
    if (this.#starts.size <= MOST_FILES) return;
    for (const oldest of this.#starts.keys()) {
      this.#starts.delete(oldest);
      break;
    }
  }
}

function keyOf({ dev, ino, size, mtimeNs }: FileState): string {
  return `${dev}:${ino}:${size}:${mtimeNs}`;
}
