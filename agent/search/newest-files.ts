/** Files that match a glob, newest first. Only as many as are wanted are held, and each of those is checked. */
import { isUtf8 } from "node:buffer";
import { lstat } from "node:fs/promises";
import { textOfName } from "../paths/names.ts";
import { CheckedFiles } from "./checked-files.ts";
import { orderKey } from "./cursor.ts";
import type { Engine, Run } from "./engine.ts";
import type { PathPattern } from "./path-pattern.ts";

export interface NewFile {
  /** Canonical. */
  readonly path: Buffer;
  readonly size: number;
  readonly mtime: Date;
}

export interface NewFiles {
  readonly files: readonly NewFile[];
  /** Why it is not all of them. */
  readonly stopped: "limit" | "time" | undefined;
}

interface Candidate {
  readonly relative: Buffer;
  readonly key: string;
  /** Nanoseconds since 1970. */
  readonly modified: bigint;
}

/** Files that are looked at together. */
const AT_ONCE = 64;

export async function newestFiles(
  engine: Engine,
  pattern: PathPattern,
  run: Run,
  limit: number,
): Promise<NewFiles> {
  let newest: Candidate[] = [];
  let more = false;
  const folder = await run.scope.access.openFolder(run.scope.folder, run.scope.place.shown);
  try {
    for await (const batch of engine.files(pattern, run)) {
      const paths = batch.filter((path) => pattern.matches(textOfName(path)));
      for (let from = 0; from < paths.length && !run.signal.aborted; from += AT_ONCE) {
        const some = paths.slice(from, from + AT_ONCE);
        newest.push(...(await Promise.all(some.map((path) => candidateOf(path, `${folder.self}/`)))));
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
  return { files, stopped: run.signal.aborted ? "time" : more ? "limit" : undefined };
}

/** Says only when it changed, for the order; whether it may be shown is decided later. */
async function candidateOf(relative: Buffer, folder: string): Promise<Candidate> {
  const place = isUtf8(relative)
    ? folder + relative.toString("utf8")
    : Buffer.concat([Buffer.from(folder), relative]);
  const stat = await lstat(place, { bigint: true }).catch(() => undefined);
  return { relative, key: orderKey(relative), modified: stat?.mtimeNs ?? 0n };
}

function sorted(candidates: Candidate[]): Candidate[] {
  return candidates.sort((a, b) => {
    if (a.modified !== b.modified) return a.modified > b.modified ? -1 : 1;
    return a.key < b.key ? -1 : 1;
  });
}

async function checked(candidates: readonly Candidate[], run: Run): Promise<NewFile[]> {
  const entries = new CheckedFiles(run);
  const found: (NewFile | undefined)[] = Array.from({ length: candidates.length });
  try {
    // Folder by folder, so that each is opened once.
    const inOrder = candidates.map((candidate, index) => ({ ...candidate, index }));
    inOrder.sort((a, b) => (a.key < b.key ? -1 : 1));
    for (const [turn, { relative, index }] of inOrder.entries()) {
      const entry = await entries.look(relative);
      if (entry?.stat.isFile()) found[index] = fileOf(entry.path, entry.stat);
      if (turn % AT_ONCE === AT_ONCE - 1) await new Promise(setImmediate);
    }
  } finally {
    await entries.close();
  }
  return found.filter((file) => file !== undefined);
}

function fileOf(path: Buffer, stat: { size: bigint; mtimeMs: bigint }): NewFile {
  return { path, size: Number(stat.size), mtime: new Date(Number(stat.mtimeMs)) };
}
