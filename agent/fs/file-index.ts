/** Which files lie in some folders, by device and inode: a hard link elsewhere is the same file under another name. */
import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import path from "node:path";

/** Entries that are looked at. */
const MOST = 200_000;
/** Coarsest step of a folder's mtime, in milliseconds: two changes within it may look like one. */
const STEP_MS = 2000;

interface Folder {
  /** Undefined: it changed just before it was read, and may have changed unnoticed since. */
  readonly state: string | undefined;
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/**
 * A folder is read again only when an entry of it came or went. That a file got a second name elsewhere does not show
 * there, so files with one name are remembered too.
 */
export class FileIndex {
  #folders: ReadonlyMap<string, Folder> = new Map();

  /** Of all files in folders, or of a file itself. Looks in one go, as what is asked about is open meanwhile; links are not followed. Undefined: there are too many. */
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

/** Undefined: it is not there, or is closed to this program as well. */
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
