/** The real disk, as `compileRules` asks for it. */
import { lstatSync, readdirSync } from "node:fs";
import path from "node:path";
import type { Disk } from "./rules.ts";

export const realDisk: Disk = {
  kindOf(entry) {
    try {
      const stat = lstatSync(entry, { throwIfNoEntry: false });
      if (!stat) return undefined;
      if (stat.isDirectory()) return "folder";
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
