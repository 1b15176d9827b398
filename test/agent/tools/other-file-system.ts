/** A folder on another file system than the temporary one, if this machine has one that may be written. */
import { accessSync, constants, statSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach } from "vitest";
import { isThere } from "../../helpers/parts.ts";

const CANDIDATES = ["/dev/shm", "/var/tmp", "/tmp"];

export const otherFileSystem: string | undefined = CANDIDATES.find((folder) => {
  try {
    accessSync(folder, constants.W_OK);
    return statSync(folder).dev !== statSync(tmpdir()).dev;
  } catch {
    return false;
  }
});

isThere(
  otherFileSystem !== undefined,
  `moving between file systems needs a second one that may be written: mount one at ${CANDIDATES[0]}`,
);

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
