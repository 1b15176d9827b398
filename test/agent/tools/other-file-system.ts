/** A folder on another file system than the temporary one, if this machine has one that may be written. */
import { accessSync, constants, statSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach } from "vitest";

const CANDIDATES = ["/dev/shm", "/var/tmp", "/tmp"];

export const otherFileSystem: string | undefined = CANDIDATES.find((folder) => {
  try {
    accessSync(folder, constants.W_OK);
    return statSync(folder).dev !== statSync(tmpdir()).dev;
  } catch {
    return false;
  }
});

if (!otherFileSystem) {
  const why = "no second file system can be written (looked for: /dev/shm); mount a tmpfs there";
  if (process.env.CI) throw new Error(why);
  console.warn(`Skipped: moving between file systems, as ${why}`);
}

const made = new Set<string>();

afterEach(async () => {
  for (const folder of made) await rm(folder, { recursive: true, force: true });
  made.clear();
});

export async function folderElsewhere(): Promise<string> {
  const folder = await realpath(await mkdtemp(path.join(otherFileSystem ?? "", "matrx-elsewhere-")));
  made.add(folder);
  return folder;
}
