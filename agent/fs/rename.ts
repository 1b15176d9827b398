/** Renames an entry within a file system. */
import { constants } from "node:fs";
import { link, lstat, open, rename, unlink } from "node:fs/promises";
import { type Directory, pathChangedError } from "../platform/directory.ts";
import type { Platform } from "../platform/platform.ts";
import { hasCode } from "./errors.ts";
import type { OpenedEntry } from "./file-handle.ts";

/** Where something is to be placed. */
export interface Destination {
  readonly parent: Directory;
  readonly name: string;
}

/**
 * Renames to a free path, without a race: if something else is created there first, throws EEXIST or ENOTEMPTY. Throws
 * EXDEV if the destination is on another file system.
 */
export async function renameNoReplace(
  entry: OpenedEntry,
  spot: Destination,
  platform: Platform,
): Promise<void> {
  const { parent, name, stat } = entry;
  await parent.confirm(name, stat);
  if (stat.isDirectory()) await platform.placeFolder(parent.at(name), spot.parent.at(spot.name));
  else if (!stat.isFile() || !(await placeByLink(entry, spot))) await placeByHolder(entry, spot);
  await spot.parent.confirm(spot.name, stat);
}

/** Makes a hard link, then removes the old name. Returns false if the file system has no hard links, or not for this user. */
async function placeByLink(entry: OpenedEntry, spot: Destination): Promise<boolean> {
  const source = entry.parent.at(entry.name);
  const destination = spot.parent.at(spot.name);
  try {
    await link(source, destination);
  } catch (error) {
    if (hasCode(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EACCES", "EISDIR"))
      return false;
    throw error;
  }
  if (!(await isStill(source, entry)) || !(await isStill(destination, entry))) {
    await unlink(destination);
    throw pathChangedError(entry.place.shown);
  }
  await unlink(source);
  return true;
}

async function isStill(path: string, { stat }: OpenedEntry): Promise<boolean> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return found?.ino === stat.ino && found.dev === stat.dev;
}

/** Reserves the path with an empty file, then replaces it. */
async function placeByHolder(entry: OpenedEntry, spot: Destination): Promise<void> {
  const destination = spot.parent.at(spot.name);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  await (await open(destination, flags, 0o600)).close();
  try {
    await rename(entry.parent.at(entry.name), destination);
  } catch (error) {
    await unlink(destination).catch(() => undefined);
    throw error;
  }
}

/** Replaces a file or link, or renames to another spelling of the same one. Throws EXDEV. */
export async function renameReplace({ parent, name, stat }: OpenedEntry, spot: Destination): Promise<void> {
  await parent.confirm(name, stat);
  await rename(parent.at(name), spot.parent.at(spot.name));
  await spot.parent.confirm(spot.name, stat);
}
