/** Finds entries by name, best matches first. */

import { fileTime } from "../fs/file-time.ts";
import { textOfName } from "../text/display-name.ts";
import { type CheckedEntry, checkedEntries } from "./checked-files.ts";
import { orderKey } from "./cursor.ts";
import type { Run } from "./engine.ts";
import { type ListedEntry, typeOf } from "./listed-entries.ts";
import { pathPattern } from "./path-pattern.ts";
import { walk } from "./walk.ts";

export interface NamedEntry {
  /** Canonical. */
  readonly path: Buffer;
  readonly type: ListedEntry["type"];
  readonly size: number;
  readonly mtime: Date;
}

export interface NamedEntries {
  readonly entries: readonly NamedEntry[];
  /** Why some are missing. */
  readonly stopped: "limit" | "time" | undefined;
}

export interface NameQuery {
  readonly query: string;
  readonly deep: boolean;
  readonly limit: number;
}

/** 0 is best; undefined if it does not match. `above` is the relative path up to the name. */
type Ranking = (above: string, name: string) => number | undefined;

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
  for await (const { above, entries } of walk(run, { deep, ordered: false })) {
    for (const { name } of entries) {
      const rank = rankOf(above, textOfName(name));
      if (rank === undefined) continue;
      const relative = Buffer.concat([Buffer.from(above), name]);
      best.push({ relative, rank, depth: above.split("/").length, key: orderKey(relative) });
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

/** Exact names first, then names that begin with the query, then names that contain it; ignores case and Unicode normalization. */
function rankingOf(query: string): Ranking {
  const wanted = folded(query);
  const inPath = wanted.includes("/");
  const foldedPart = (above: string, name: string) => folded(inPath ? above + name : name);
  if (/[*?[{]/.test(query)) {
    const { matches } = pathPattern(wanted, true);
    return (above, name) => (matches(foldedPart(above, name)) ? 0 : undefined);
  }
  return (above, name) => {
    const part = foldedPart(above, name);
    if (part === wanted) return 0;
    if (part.startsWith(wanted)) return 1;
    return part.includes(wanted) ? 2 : undefined;
  };
}

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

function sorted(candidates: Candidate[]): Candidate[] {
  return candidates.sort((a, b) => a.rank - b.rank || a.depth - b.depth || (a.key < b.key ? -1 : 1));
}

async function checked(candidates: readonly Candidate[], run: Run): Promise<NamedEntry[]> {
  const entries = await checkedEntries(
    candidates.map(({ relative }) => relative),
    run,
  );
  return entries.flatMap((entry) => (entry ? [namedEntry(entry)] : []));
}

function namedEntry({ path, stat }: CheckedEntry): NamedEntry {
  return { path, type: typeOf(stat), size: Number(stat.size), mtime: fileTime(stat.mtimeMs) };
}
