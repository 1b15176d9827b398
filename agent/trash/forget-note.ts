/** Removes the trash's note of a thing that lies there no more. */
import { unlink } from "node:fs/promises";
import type { FileAccess } from "../fs/access.ts";

/** `path` is where the thing lay; anywhere but in the trash there is no such note. Never throws: a note too many harms nothing. */
export async function forgetNote(access: FileAccess, path: string): Promise<void> {
  const { basename, dirname, join } = access.platform.path;
  const files = dirname(path);
  if (basename(files) !== "files") return;
  const note = join(dirname(files), "info", `${basename(path)}.trashinfo`);
  try {
    const place = await access.findEntry(note, "remove");
    if (place.missing.length > 0) return;
    const { folder, name } = access.parentOf(place);
    const info = await access.openFolder(folder, place.shown);
    await unlink(info.at(name)).finally(() => info.close());
  } catch {
    // It stays, and points to nothing.
  }
}
