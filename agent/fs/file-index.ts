/** Indexes the files in some folders by device and inode, to recognise hard links to them elsewhere. */
import { type BigIntStats, readdirSync } from "node:fs";
import path from "node:path";
import { entryStat } from "./entry-stat.ts";

/** Limit on entries. */
const MOST = 200_000;
/** Coarsest resolution of a folder's mtime, in milliseconds: two changes within it may look like one. */
const MTIME_RESOLUTION_MS = 2000;

interface Folder {
  /** Undefined if it changed just before it was read, and so may have changed unnoticed since. */
  readonly state: string | undefined;
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/**
 * A folder is read again only when an entry was added or removed. A new hard link elsewhere does not show in the folder,
 * so files with a single name are indexed too.
 */
export class FileIndex {
  #folders: ReadonlyMap<string, Folder> = new Map();

  /** Identities of all files in folders, or of a file itself. Synchronous, because the file in question is open meanwhile; does not follow links. Undefined if there are too many. */
  identitiesIn(roots: readonly string[]): ReadonlySet<string> | undefined {
    const identities = new Set<string>();
    const seen = new Map<string, Folder>();
    const pending = [...roots];
    for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
      const stat = seen.has(entry) ? undefined : entryStat(entry);
      if (stat?.isFile()) identities.add(identityOf(stat));
      if (!stat?.isDirectory()) continue;
      const folder = this.#read(entry, stat);
      seen.set(entry, folder);
      for (const identity of folder.files) identities.add(identity);
      pending.push(...folder.folders);
      if (identities.size + seen.size > MOST) return undefined;
    }
    this.#folders = seen;
    return identities;
  }

  #read(folder: string, stat: BigIntStats): Folder {
    const state = `${identityOf(stat)} ${stat.mtimeNs} ${stat.ctimeNs}`;
    const known = this.#folders.get(folder);
    if (known?.state === state) return known;
    const isYoung = Date.now() - Number(stat.mtimeMs) < MTIME_RESOLUTION_MS;
    const files: string[] = [];
    const folders: string[] = [];
    for (const name of namesIn(folder)) {
      const entry = entryStat(path.join(folder, name));
      if (entry?.isFile()) files.push(identityOf(entry));
      else if (entry?.isDirectory()) folders.push(path.join(folder, name));
    }
    return { state: isYoung ? undefined : state, files, folders };
  }
}

export function identityOf(found: BigIntStats): string {
  return `${found.dev}:${found.ino}`;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
