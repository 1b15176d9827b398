/** The real disk, as `compileRules` asks for it. */
import { lstatSync, readdirSync, type Stats, statSync } from "node:fs";
import path from "node:path";
import type { Disk } from "./rules.ts";

export const realDisk: Disk = {
  kindOf(entry) {
    try {
      const stat = lstatSync(entry, { throwIfNoEntry: false });
      if (!stat) return undefined;
      if (stat.isDirectory()) return "folder";
      if (stat.isSymbolicLink()) return "link";
      return stat.isFile() ? "file" : "other";
    } catch {
      // What this program may not look at, its commands may not either.
      return undefined;
    }
  },
  entriesOf(folder) {
    try {
      return readdirSync(folder).map((name) => path.posix.join(folder, name));
    } catch {
      return [];
    }
  },
};

/**
 * Whether bubblewrap can reach a canonical path. The agent as root may enter every folder, but a user namespace takes root's
 * capabilities away: there, the permissions of each folder on the way decide, as for any other user.
 */
export function isReachableInSandbox(entry: string): boolean {
  if (process.geteuid?.() !== 0) return true;
  for (let folder = path.posix.dirname(entry); folder !== "/"; folder = path.posix.dirname(folder)) {
    const stat = statSync(folder, { throwIfNoEntry: false });
    if (!stat || !isSearchable(stat)) return false;
  }
  return true;
}

type Permissions = Pick<Stats, "uid" | "gid" | "mode">;

/** Whether a folder may be entered by who has this process's user and groups, and no capabilities. */
export function isSearchable(stat: Permissions): boolean {
  return isPermitted(stat, 0o111);
}

/** The same of reading its names. */
export function isReadable(stat: Permissions): boolean {
  return isPermitted(stat, 0o444);
}

function isPermitted({ uid, gid, mode }: Permissions, bits: number): boolean {
  const isOfGroup = [process.getegid?.(), ...(process.getgroups?.() ?? [])].includes(gid);
  const mine = uid === process.geteuid?.() ? 0o700 : isOfGroup ? 0o070 : 0o007;
  return (mode & mine & bits) !== 0;
}
