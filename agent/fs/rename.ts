/** Renames an entry within a file system. */
import { constants } from "node:fs";
import { link, lstat, open, rename, unlink } from "node:fs/promises";
import { type Directory, pathChangedError } from "../platform/directory.ts";
import type { Platform } from "../platform/platform.ts";
import { hasCode } from "./errors.ts";
import type { OpenedEntry } from "./file-handle.ts";

/** Where an entry moves to. */
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
  to: Destination,
  platform: Platform,
): Promise<void> {
  const { parent, name, stat } = entry;
  await parent.confirm(name, stat);
  if (stat.isDirectory()) await platform.renameFolder(parent.at(name), to.parent.at(to.name));
  else if (!stat.isFile() || !(await renameByLink(entry, to))) await renameOverPlaceholder(entry, to);
  await to.parent.confirm(to.name, stat);
}

/** Makes a hard link, then removes the old name. Returns false if the file system has no hard links, or not for this user. */
async function renameByLink(entry: OpenedEntry, to: Destination): Promise<boolean> {
  const source = entry.parent.at(entry.name);
  const destination = to.parent.at(to.name);
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

/** Reserves the path with an empty file, then replaces that. */
async function renameOverPlaceholder(entry: OpenedEntry, to: Destination): Promise<void> {
  const destination = to.parent.at(to.name);
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
export async function renameReplace({ parent, name, stat }: OpenedEntry, to: Destination): Promise<void> {
  await parent.confirm(name, stat);
  await rename(parent.at(name), to.parent.at(to.name));
  await to.parent.confirm(to.name, stat);
}
