/** Creates missing folders, each relative to its parent's descriptor. */
import { constants } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { toolError } from "@matrx/shared/errors.ts";
import type { FileAccess, ResolvedPath } from "./access.ts";
import { shownName } from "./display-name.ts";
import { explained, hasCode } from "./errors.ts";

/** Makes sure that the folder of a path exists. Throws MatrxError `NOT_FOUND` if it does not and may not be created. */
export async function makeParents(
  access: FileAccess,
  place: ResolvedPath,
  mayCreate: boolean,
): Promise<void> {
  const folders = place.missing.slice(0, -1);
  if (folders.length === 0) return;
  const existing = access.existingPart(place);
  if (mayCreate) return void (await makeFolders(access, existing, folders, place.shown));
  throw toolError("NOT_FOUND", `The folder of ${place.shown} does not exist`, {
    hint: `Only ${shownName(existing)} exists; omit create_directories to create the rest`,
    details: { path: place.shown },
  });
}

/** Creates nested folders `names` in an existing folder. Returns whether any was created; existing ones are unchanged. */
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

/** Syncs a folder, so that its changes survive a power cut; not every file system can. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const handle = await open(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0));
    await handle.sync().finally(() => handle.close());
  } catch {
    // Best effort: the write itself succeeded.
  }
}
