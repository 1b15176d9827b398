/** Indexes the files in some folders by device and inode, to recognise hard links to them elsewhere. */
import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import path from "node:path";

/** Limit on entries. */
const MOST = 200_000;
/** Coarsest resolution of a folder's mtime, in milliseconds: two changes within it may look like one. */
const STEP_MS = 2000;

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
    for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
      const stat = seen.has(place) ? undefined : statOf(place);
      if (stat?.isFile()) identities.add(identityOf(stat));
      if (!stat?.isDirectory()) continue;
      const folder = this.#read(place, stat);
      seen.set(place, folder);
      for (const identity of folder.files) identities.add(identity);
      pending.push(...folder.folders);
      if (identities.size + seen.size > MOST) return undefined;
    }
    this.#folders = seen;
    return identities;
  }

  #read(place: string, stat: BigIntStats): Folder {
    const state = `${identityOf(stat)} ${stat.mtimeNs} ${stat.ctimeNs}`;
    const known = this.#folders.get(place);
    if (known?.state === state) return known;
    const isYoung = Date.now() - Number(stat.mtimeMs) < STEP_MS;
    const files: string[] = [];
    const folders: string[] = [];
    for (const name of namesIn(place)) {
      const entry = statOf(path.join(place, name));
      if (entry?.isFile()) files.push(identityOf(entry));
      else if (entry?.isDirectory()) folders.push(path.join(place, name));
    }
    return { state: isYoung ? undefined : state, files, folders };
  }
}

export function identityOf(found: BigIntStats): string {
  return `${found.dev}:${found.ino}`;
}

/** Undefined if it does not exist, or this program may not read it either. */
function statOf(place: string): BigIntStats | undefined {
  try {
    return lstatSync(place, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
