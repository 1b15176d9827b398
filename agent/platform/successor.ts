/** A file to replace another one, with the attributes that the system keeps beside the content. */
import { type BigIntStats, constants } from "node:fs";
import { copyFile, type FileHandle, open, unlink } from "node:fs/promises";
import type { Directory } from "./directory.ts";

export interface Predecessor {
  readonly name: string;
  readonly stat: BigIntStats;
}

/**
 * Makes a file beside another one, with its extended attributes, its access control list and whatever else the system
 * keeps beside the content; mode and owner are for the caller to set. It is empty, and open for writing: close it.
 * Undefined: it cannot be made so, and nothing is left of it.
 */
export type MakeSuccessor = (
  folder: Directory,
  old: Predecessor,
  name: string,
) => Promise<FileHandle | undefined>;

/** A larger file is not copied for what stands beside its content, in bytes. */
const MOST_COPIED = 64 * 1024 * 1024;

/**
 * For systems that copy all of it with the content. macOS: fcopyfile(3) with COPYFILE_ALL, which is what libuv calls, has
 * attributes and lists. Windows: CopyFileW has attributes and streams, but no lists. Not run on either.
 */
export const successorByCopy: MakeSuccessor = async (folder, old, name) => {
  if (old.stat.size > MOST_COPIED) return undefined;
  const copy = folder.at(name);
  let handle: FileHandle | undefined;
  try {
    await copyFile(folder.at(old.name), copy, constants.COPYFILE_EXCL);
    handle = await open(copy, constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0));
    await handle.truncate(0);
    // The copy is as old as what it was made of.
    await handle.utimes(new Date(), new Date());
    return handle;
  } catch (error) {
    await handle?.close();
    await unlink(copy).catch(() => undefined);
    if (isSystemFull(error)) throw error;
    return undefined;
  }
};

/** Whether the disk is full: then there is no point in trying another way. */
export function isSystemFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}
