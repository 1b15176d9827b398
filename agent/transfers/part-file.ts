/** The part of an upload that has arrived: a file beside its target, which nobody else may read. */
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open, unlink } from "node:fs/promises";
import type { FileAccess } from "../fs/access.ts";
import { hasCode } from "../fs/errors.ts";
import { notReplaceableError, type OpenedFile } from "../fs/file-handle.ts";
import { identityOf } from "../fs/file-index.ts";
import { mustStay } from "../fs/write-file.ts";
import type { Directory } from "../platform/directory.ts";
import type { Platform } from "../platform/platform.ts";
import type { UploadRecord } from "./upload-record.ts";

const NEW = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

type PartFacts = Pick<UploadRecord, "part" | "mode" | "successor_of">;

/** Its name depends on the upload alone, because the target's may be too long for more. */
export function partNameOf(upload: string): string {
  return `.matrx-${upload}.part`;
}

/**
 * Creates it, empty. If it is to replace a file, it gets that one's attributes now, which is possible only while it is
 * empty. Throws the system's error, or MatrxError `CONFLICT` if another file cannot be given them.
 */
export async function createPart(
  { platform }: FileAccess,
  file: OpenedFile,
  old: BigIntStats | undefined,
  { id, in_place: inPlace }: Pick<UploadRecord, "id" | "in_place">,
): Promise<PartFacts> {
  const { parent } = file;
  const name = partNameOf(id);
  const replaced = old && mayReplace(old) ? file.asEntry(old) : undefined;
  const successor = replaced && (await platform.makeSuccessor(parent, replaced, name));
  if (old && !successor && !inPlace) throw notReplaceableError(file.place.shown);
  const mode = old ? old.mode & 0o777n : await usualMode(parent, name);
  await using part = successor ?? (await open(parent.at(name), NEW, 0o600));
  const stat = await part.stat({ bigint: true });
  try {
    await parent.confirm(name, stat);
    await part.chmod(0o600);
  } catch (error) {
    await unlink(parent.at(name)).catch(() => undefined);
    throw error;
  }
  const facts = { part: stat.ino.toString(), mode: Number(mode) };
  return successor && old ? { ...facts, successor_of: identityOf(old) } : facts;
}

/**
 * Whether a file may be replaced by another one, as far as its names and owner go. A link that leads to it does not matter:
 * it leads to whatever has the name.
 */
export function mayReplace(old: BigIntStats): boolean {
  return !mustStay(old, { linked: false });
}

/**
 * The mode that a new file would have there, by umask and access control lists. The part itself never has it: somebody
 * could open it before that was changed.
 */
async function usualMode(parent: Directory, name: string): Promise<bigint> {
  await using file = await open(parent.at(name), NEW, 0o666);
  const stat = await file.stat({ bigint: true });
  await parent.confirm(name, stat);
  await unlink(parent.at(name));
  return stat.mode & 0o777n;
}

/** Undefined if it is gone, or another file is there. Close it. Throws the system's error. */
export async function openPart(parent: Directory, record: UploadRecord): Promise<FileHandle | undefined> {
  const name = partNameOf(record.id);
  const flags = constants.O_RDWR | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  let part: FileHandle;
  try {
    part = await open(parent.at(name), flags);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ELOOP", "EISDIR", "ENXIO")) return undefined;
    throw error;
  }
  try {
    const stat = await part.stat({ bigint: true });
    await parent.confirm(name, stat);
    // A second name would let the upload be changed, or read, where its rights do not reach.
    if (isPart(stat, record) && isOurs(stat) && stat.nlink === 1n) return part;
  } catch (error) {
    await part.close();
    throw error;
  }
  await part.close();
  return undefined;
}

/** Removes it, whoever may write there now. Throws the system's error if it may still be there. */
export async function removePart(platform: Platform, record: UploadRecord): Promise<void> {
  const name = partNameOf(record.id);
  try {
    await using parent = await platform.openDirectory(platform.path.dirname(record.path), () => undefined);
    if (isPart(await lstat(parent.at(name), { bigint: true }), record)) await unlink(parent.at(name));
  } catch (error) {
    if (!hasCode(error, "ENOENT", "ENOTDIR")) throw error;
  }
}

/** A number of an inode is used again: another user's file may have the part's. */
function isOurs({ uid }: BigIntStats): boolean {
  const user = process.geteuid?.();
  return user === undefined || uid === BigInt(user);
}

function isPart(stat: BigIntStats, { part }: UploadRecord): boolean {
  return stat.isFile() && (part === undefined || stat.ino.toString() === part);
}
