/** Creates missing folders and takes them away again, each relative to its parent's descriptor. */
import { constants } from "node:fs";
import { mkdir, open, rmdir } from "node:fs/promises";
import { toolError } from "@matrx/shared/errors.ts";
import { shownName } from "../text/display-name.ts";
import type { FileAccess, ResolvedPath } from "./access.ts";
import { explained, hasCode } from "./errors.ts";

/**
 * Does something in the folder of a path, which is created if it is missing; if that fails, what was created for it is removed.
 * Throws MatrxError `NOT_FOUND` if it is missing and may not be created.
 */
export async function inParents<Result>(
  access: FileAccess,
  place: ResolvedPath,
  mayCreate: boolean,
  act: () => Promise<Result>,
): Promise<Result> {
  const { shown } = place;
  const folders = place.missing.slice(0, -1);
  if (folders.length === 0) return await act();
  const existing = access.existingPart(place);
  if (!mayCreate)
    throw toolError("NOT_FOUND", `The folder of ${shown} does not exist`, {
      hint: `Only ${shownName(existing)} exists; omit create_directories to create the rest`,
      details: { path: shown },
    });
  const made = await makeFolders(access, existing, folders, shown);
  return await orRemove(access, made, shown, act);
}

/** Creates nested folders `names` in an existing folder, or none. Returns those that it created; existing ones are unchanged. */
export async function makeFolders(
  access: FileAccess,
  existing: string,
  names: readonly string[],
  shown: string,
): Promise<readonly string[]> {
  const made: string[] = [];
  await orRemove(access, made, shown, async () => {
    let above = existing;
    for (const name of names) {
      const folder = access.platform.path.join(above, name);
      await using parent = await access.openFolder(above, shown);
      try {
        await explained(shown, "make a folder for", () => mkdir(parent.at(name)));
        made.push(folder);
      } catch (error) {
        if (!(error instanceof Error && hasCode(error.cause, "EEXIST"))) throw error;
      }
      above = folder;
    }
  });
  return made;
}

async function orRemove<Result>(
  access: FileAccess,
  made: readonly string[],
  shown: string,
  act: () => Promise<Result>,
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    // The first failure says more than one of this.
    await removeFolders(access, made, shown).catch(() => {});
    throw error;
  }
}

/** Removes nested folders, the innermost first, as far as they are empty: another program may use them by now. */
export async function removeFolders(
  access: FileAccess,
  folders: readonly string[],
  shown: string,
): Promise<void> {
  const { dirname, basename } = access.platform.path;
  for (const folder of folders.toReversed()) {
    await using parent = await access.openFolder(dirname(folder), shown);
    try {
      await rmdir(parent.at(basename(folder)));
    } catch (error) {
      if (!hasCode(error, "ENOENT", "ENOTEMPTY", "EEXIST")) throw error;
    }
  }
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
