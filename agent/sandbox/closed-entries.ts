/**
 * Searches granted folders for what a sandboxed command must not reach there: paths that a glob closes, other names of
 * Matrx's own files, sockets of other programs. A folder is read again only if it changed.
 */
import { type BigIntStats, type Dirent, lstatSync, readdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import type { ProtectedPaths } from "../fs/protected-paths.ts";
import { TimeSlice } from "../search/time-slice.ts";

/** What is looked for; `key` tells apart questions with different answers. */
export interface Question {
  readonly key: string;
  isClosed(path: string): boolean;
  isUnchangeable(path: string): boolean;
  /** What a file with more than one name is by another of them. */
  kindOfFile(stat: BigIntStats): keyof ProtectedPaths | undefined;
}

export interface Found {
  readonly closed: readonly string[];
  readonly unchangeable: readonly string[];
}

interface Folder extends Found {
  readonly state: string;
  readonly folders: readonly string[];
}

/** Limit on the folders of one search. */
const MOST_FOLDERS = 200_000;
/** Coarsest resolution of a folder's mtime, in milliseconds: two changes within it may look like one. */
const MTIME_RESOLUTION_MS = 2000;
/** Questions whose folders are remembered. */
const KEPT_QUESTIONS = 4;

export class ClosedEntries {
  readonly #folders = new Map<string, ReadonlyMap<string, Folder>>();
  readonly #most: number;

  constructor(most = MOST_FOLDERS) {
    this.#most = most;
  }

  /** Throws MatrxError if there are too many entries to check them before each command. */
  async find(roots: readonly string[], question: Question): Promise<Found> {
    const known = this.#folders.get(question.key);
    const seen = new Map<string, Folder>();
    const found = { closed: [] as string[], unchangeable: [] as string[] };
    const slice = new TimeSlice();
    const pending = [...roots];
    let folders = 0;
    for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
      if (slice.isUp) await slice.rest();
      const stat = statOf(folder);
      if (!stat?.isDirectory()) continue;
      const state = `${stat.dev}:${stat.ino} ${stat.mtimeNs} ${stat.ctimeNs}`;
      const remembered = known?.get(folder);
      const content = remembered?.state === state ? remembered : readFolder(folder, state, question);
      // One that changed just now may change again without showing it.
      if (Date.now() - Number(stat.mtimeMs) > MTIME_RESOLUTION_MS) seen.set(folder, content);
      found.closed.push(...content.closed);
      found.unchangeable.push(...content.unchangeable);
      pending.push(...content.folders);
      if (++folders > this.#most) throw tooMany(roots);
    }
    this.#remember(question.key, seen);
    return found;
  }

  #remember(key: string, folders: ReadonlyMap<string, Folder>): void {
    this.#folders.delete(key);
    this.#folders.set(key, folders);
    const [oldest] = this.#folders.keys();
    if (this.#folders.size > KEPT_QUESTIONS && oldest !== undefined) this.#folders.delete(oldest);
  }
}

function readFolder(folder: string, state: string, question: Question): Folder {
  const content = { closed: [] as string[], unchangeable: [] as string[], folders: [] as string[] };
  for (const entry of entriesOf(folder)) {
    const where = path.posix.join(folder, entry.name);
    // A link cannot be covered; what it leads to can.
    if (entry.isSymbolicLink()) content.closed.push(...(question.isClosed(where) ? targetOf(where) : []));
    else if (entry.isSocket() || question.isClosed(where)) content.closed.push(where);
    else if (question.isUnchangeable(where)) content.unchangeable.push(where);
    else if (entry.isDirectory()) content.folders.push(where);
    else if (entry.isFile()) addIfLinked(where, content, question);
  }
  return { ...content, state };
}

function addIfLinked(
  where: string,
  content: { closed: string[]; unchangeable: string[] },
  question: Question,
): void {
  const stat = statOf(where);
  if (!stat || stat.nlink < 2n) return;
  const kind = question.kindOfFile(stat);
  if (kind) content[kind === "closed" ? "closed" : "unchangeable"].push(where);
}

function targetOf(link: string): string[] {
  try {
    return [realpathSync.native(link)];
  } catch {
    return [];
  }
}

/** A folder that this program may not read stays out of its commands' reach, too. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function statOf(entry: string): BigIntStats | undefined {
  try {
    return lstatSync(entry, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function tooMany(roots: readonly string[]): MatrxError {
  return agentError("UNAVAILABLE", "The granted folders are too large to check them before a command runs", {
    hint: `Ask the owner for smaller folders than ${roots.slice(0, 4).join(", ")}`,
    details: { folders: roots.slice(0, 64) },
  });
}
