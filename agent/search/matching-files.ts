/** Files with matching lines, and how many each has. */
import { textOfName } from "../text/display-name.ts";
import { type Cursor, orderKey } from "./cursor.ts";
import { cutShort, type Engine, type LineQuery, type Run } from "./engine.ts";
import { LineReader, type Page } from "./matching-lines.ts";

export interface MatchingFile {
  /** Relative to the scope's folder. */
  readonly relative: Buffer;
  /** Canonical. */
  readonly path: Buffer;
  /** Number of matching lines; 1 if only the first was wanted. */
  readonly lines: number;
  /** The last matching line seen. */
  readonly lastLine: number;
}

export interface MatchingFiles {
  /** Sorted by path. */
  readonly files: readonly MatchingFile[];
  /** Why it ended before everything was searched. */
  readonly stopped: "max_results" | "time" | "pipe" | undefined;
}

export async function matchingFiles(
  engine: Engine,
  query: LineQuery,
  run: Run,
  { most, after }: Pick<Page, "most" | "after">,
): Promise<MatchingFiles> {
  const reader = new LineReader(run);
  const found = new Map<string, MatchingFile>();
  let isFull = false;
  try {
    search: for await (const hits of engine.lines(query, run)) {
      for (const hit of hits) {
        const { path, line, column } = hit;
        if (column === undefined || query.include?.matches(textOfName(path)) === false) continue;
        const key = orderKey(path);
        const known = found.get(key);
        if ((known && query.firstOnly) || !isAfter(key, after)) continue;
        const file = await reader.confirm(hit);
        if (!file) continue;
        isFull = !known && found.size === most;
        if (isFull) break search;
        found.set(key, { ...file, lines: (known?.lines ?? 0) + 1, lastLine: line });
      }
    }
  } finally {
    await reader.close();
  }
  const files = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, file]) => file);
  return { files, stopped: cutShort(run) ?? (isFull ? "max_results" : undefined) };
}

function isAfter(key: string, cursor: Cursor | undefined): boolean {
  return cursor === undefined || key > orderKey(cursor.path);
}
