/** Where recordings of terminals lie. The oldest make room for new ones. */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder } from "../platform/private-file.ts";

/** Files that are kept, and their bytes together. */
const KEPT = { files: 200, bytes: 2 * 1024 * 1024 * 1024 } as const;

/** The path of a new recording, in a folder that has room for it. */
export function newRecording(folder: string, terminal: string, now: Date): string {
  makePrivateFolder(folder);
  makeRoom(folder);
  const time = now.toISOString().slice(0, 19).replace(/[-:]/g, "");
  return join(folder, `${time}Z-${terminal}.cast`);
}

function makeRoom(folder: string): void {
  // Their names begin with their times.
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(".cast"))
    .sort()
    .reverse();
  let bytes = 0;
  for (const [index, name] of names.entries()) {
    const path = join(folder, name);
    bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (index + 1 >= KEPT.files || bytes > KEPT.bytes) rmSync(path, { force: true });
  }
}
