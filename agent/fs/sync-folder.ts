import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** Makes what changed in a folder last through a power cut; not every file system can. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const handle = await open(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0));
    await handle.sync().finally(() => handle.close());
  } catch {
    // What was written is written either way.
  }
}
