/** Finds files that match a glob, newest first. Keeps only as many as needed, and checks each of those. */
import { isUtf8 } from "node:buffer";
import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { entryStat } from "../fs/entry-stat.ts";
import { fileTime } from "../fs/file-time.ts";
import type { Directory } from "../platform/directory.ts";
import { TimeSlice } from "../platform/time-slice.ts";
import { textOfName } from "../text/display-name.ts";
import { type CheckedEntry, checkedEntries } from "./checked-files.ts";
import { orderKey } from "./cursor.ts";
import { cutShort, type Engine, type Run } from "./engine.ts";
import type { PathPattern } from "./path-pattern.ts";

export interface NewFile {
  /** Canonical. */
  readonly path: Buffer;
  readonly size: number;
  readonly mtime: Date;
}

export interface NewFiles {
  readonly files: readonly NewFile[];
  /** Why some are missing. */
  readonly stopped: "limit" | "time" | "pipe" | undefined;
}

interface Candidate {
  readonly relative: Buffer;
  readonly key: string;
  /** Nanoseconds since 1970. */
  readonly modified: bigint;
}

/** How many files to stat at once. */
const AT_ONCE = 64;

export async function newestFiles(
  engine: Engine,
  pattern: PathPattern,
  run: Run,
  limit: number,
): Promise<NewFiles> {
  let newest: Candidate[] = [];
  let more = false;
  const slice = new TimeSlice();
  const folder = await run.scope.access.openFolder(run.scope.folder, run.scope.place.shown);
  try {
    for await (const batch of engine.files(pattern, run)) {
      const paths = batch.filter((path) => pattern.matches(textOfName(path)));
      for (let from = 0; from < paths.length && !run.signal.aborted; ) {
        const some = await candidatesOf(paths.slice(from, from + AT_ONCE), folder, slice);
        newest.push(...some);
        from += some.length;
        if (slice.isUp) await slice.rest();
      }
      if (newest.length > 2 * limit + 1000) {
        newest = sorted(newest).slice(0, limit);
        more = true;
      }
    }
  } finally {
    await folder.close();
  }
  more ||= newest.length > limit;
  const files = await checked(sorted(newest).slice(0, limit), run);
  return { files, stopped: cutShort(run) ?? (more ? "limit" : undefined) };
}

/** For at least the first of the paths. Gets only modification times, to sort by; whether files may be shown is checked later. */
function candidatesOf(paths: readonly Buffer[], folder: Directory, slice: TimeSlice): Promise<Candidate[]> {
  return slice.ask(
    (isLate) => {
      const found: Candidate[] = [];
      for (const path of paths) {
        found.push(candidateOf(path, entryStat(placeOf(path, folder))));
        if (isLate()) break;
      }
      return found;
    },
    () =>
      Promise.all(paths.map(async (path) => candidateOf(path, await statByThread(placeOf(path, folder))))),
  );
}

function candidateOf(relative: Buffer, stat: BigIntStats | undefined): Candidate {
  return { relative, key: orderKey(relative), modified: stat?.mtimeNs ?? 0n };
}

function placeOf(relative: Buffer, folder: Directory): string | Buffer {
  if (isUtf8(relative)) return `${folder.self}/${relative.toString("utf8")}`;
  return Buffer.concat([Buffer.from(`${folder.self}/`), relative]);
}

function statByThread(place: string | Buffer): Promise<BigIntStats | undefined> {
  return lstat(place, { bigint: true }).catch(() => undefined);
}

function sorted(candidates: Candidate[]): Candidate[] {
  return candidates.sort((a, b) => {
    if (a.modified !== b.modified) return a.modified > b.modified ? -1 : 1;
    return a.key < b.key ? -1 : 1;
  });
}

async function checked(candidates: readonly Candidate[], run: Run): Promise<NewFile[]> {
  const entries = await checkedEntries(
    candidates.map(({ relative }) => relative),
    run,
  );
  return entries.flatMap((entry) => (entry?.stat.isFile() ? [fileOf(entry)] : []));
}

function fileOf({ path, stat }: CheckedEntry): NewFile {
  return { path, size: Number(stat.size), mtime: fileTime(stat.mtimeMs) };
}
