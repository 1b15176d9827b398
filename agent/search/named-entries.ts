/** Entries whose names say what is looked for, best first. */
import { textOfName } from "../paths/names.ts";
import { CheckedFiles } from "./checked-files.ts";
import { orderKey } from "./cursor.ts";
import type { Run } from "./engine.ts";
import { pathPattern } from "./path-pattern.ts";
import { walk } from "./walk.ts";

export interface NamedEntry {
  /** Canonical. */
  readonly path: Buffer;
  readonly type: "file" | "directory" | "symlink" | "other";
  readonly size: number;
  readonly mtime: Date;
}

export interface NamedEntries {
  readonly entries: readonly NamedEntry[];
  /** Why it is not all of them. */
  readonly stopped: "limit" | "time" | undefined;
}

export interface NameQuery {
  readonly query: string;
  readonly deep: boolean;
  readonly limit: number;
}

/** 0 is best; undefined: not what is looked for. `path` is relative, with `/` between names. */
export type Ranking = (path: string) => number | undefined;

interface Candidate {
  readonly relative: Buffer;
  readonly rank: number;
  readonly depth: number;
  readonly key: string;
}

export async function entriesNamed(run: Run, { query, deep, limit }: NameQuery): Promise<NamedEntries> {
  const rankOf = rankingOf(query);
  let best: Candidate[] = [];
  let more = false;
  for await (const batch of walk(run, { deep })) {
    for (const { path } of batch) {
      const text = textOfName(path);
      const rank = rankOf(text);
      if (rank === undefined) continue;
      best.push({ relative: path, rank, depth: text.split("/").length, key: orderKey(path) });
    }
    if (best.length > 2 * limit + 1000) {
      best = sorted(best).slice(0, limit);
      more = true;
    }
  }
  more ||= best.length > limit;
  const entries = await checked(sorted(best).slice(0, limit), run);
  return { entries, stopped: run.signal.aborted ? "time" : more ? "limit" : undefined };
}

/** The very name first, then names that begin with it, then those that have it somewhere; case and accents' spelling aside. */
export function rankingOf(query: string): Ranking {
  const wanted = query.normalize("NFC").toLowerCase();
  if (/[*?[{]/.test(query)) {
    const { matches } = pathPattern(wanted, true);
    return (path) => (matches(path.normalize("NFC").toLowerCase()) ? 0 : undefined);
  }
  const inPath = wanted.includes("/");
  return (path) => {
    const name = inPath ? path : path.slice(path.lastIndexOf("/") + 1);
    const folded = name.normalize("NFC").toLowerCase();
    if (folded === wanted) return 0;
    if (folded.startsWith(wanted)) return 1;
    return folded.includes(wanted) ? 2 : undefined;
  };
}

function sorted(candidates: Candidate[]): Candidate[] {
  return candidates.sort((a, b) => a.rank - b.rank || a.depth - b.depth || (a.key < b.key ? -1 : 1));
}

async function checked(candidates: readonly Candidate[], run: Run): Promise<NamedEntry[]> {
  const files = new CheckedFiles(run);
  const entries: NamedEntry[] = [];
  try {
    for (const { relative } of candidates) {
      const found = await files.look(relative);
      if (!found) continue;
      const { stat, path } = found;
      const type = stat.isFile()
        ? "file"
        : stat.isDirectory()
          ? "directory"
          : stat.isSymbolicLink()
            ? "symlink"
            : "other";
      entries.push({ path, type, size: Number(stat.size), mtime: new Date(Number(stat.mtimeMs)) });
    }
  } finally {
    await files.close();
  }
  return entries;
}
