/** Makes the folders that a place lacks, each below the last one's descriptor. */

import { constants } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import type { FileAccess } from "./access.ts";
import { explained, hasCode } from "./errors.ts";

/** Makes `names` one below the other in an existing folder. Tells whether any was made; existing ones are left alone. */
export async function makeFolders(
  access: FileAccess,
  existing: string,
  names: readonly string[],
  shown: string,
): Promise<boolean> {
  let folder = existing;
  let made = false;
  for (const name of names) {
    const parent = await access.openFolder(folder, shown);
    try {
      await explained(shown, "make a folder for", () => mkdir(parent.at(name)));
      made = true;
    } catch (error) {
      if (!(error instanceof Error && hasCode(error.cause, "EEXIST"))) throw error;
    } finally {
      await parent.close();
    }
    folder = access.platform.path.join(folder, name);
  }
  return made;
}

/** Makes what changed in a folder last through a power cut; not every file system can. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const handle = await open(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0));
    await handle.sync().finally(() => handle.close());
  } catch {
    // What was written is written either way.
  }
}
