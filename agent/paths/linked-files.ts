/** Files in folders that have another name somewhere: hard links. */
import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import path from "node:path";

/** Entries that are looked at. */
const MOST = 100_000;

/** Device and inode of each; in one go, as what is asked about is open meanwhile. Links are not followed. */
export function linkedFilesIn(folders: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>();
  const pending = [...folders];
  let looked = 0;
  for (let place = pending.pop(); place !== undefined && looked < MOST; place = pending.pop()) {
    looked++;
    try {
      const stat = lstatSync(place, { bigint: true });
      if (stat.isDirectory()) {
        for (const name of readdirSync(place)) pending.push(path.join(place, name));
      } else if (stat.isFile() && stat.nlink > 1n) found.add(identityOf(stat));
    } catch {
      // It went away, or is closed to this program as well.
    }
  }
  return found;
}

export function identityOf(found: BigIntStats): string {
  return `${found.dev}:${found.ino}`;
}
