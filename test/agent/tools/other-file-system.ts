/** A folder on another file system than the temporary one, if this machine has one that may be written. */
import { accessSync, constants, statSync } from "node:fs";
import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { removeFolder } from "../../helpers/folder.ts";
import { needs } from "../../helpers/parts.ts";

const CANDIDATES = ["/dev/shm", "/var/tmp", "/tmp"];

export const otherFileSystem: string | undefined = CANDIDATES.find((folder) => {
  try {
    accessSync(folder, constants.W_OK);
    return statSync(folder).dev !== statSync(tmpdir()).dev;
  } catch {
    return false;
  }
});

export const NEEDS_OTHER_FILE_SYSTEM = needs(
  otherFileSystem !== undefined,
  `moving between file systems needs a second one that may be written: mount one at ${CANDIDATES[0]}`,
);

export async function folderElsewhere(): Promise<string> {
  const folder = await realpath(await mkdtemp(path.join(otherFileSystem ?? "", "matrx-elsewhere-")));
  onTestFinished(() => removeFolder(folder));
  return folder;
}
