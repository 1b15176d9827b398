/** Writes a whole file: atomically, by renaming a new file over it, or in place if that would break something. */
import { randomBytes } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { access as askRight, type FileHandle, lstat, open, rename, unlink } from "node:fs/promises";
import type { Directory } from "../platform/directory.ts";
import type { MakeSuccessor } from "../platform/successor.ts";
import { hasCode } from "./errors.ts";
import { syncFolder } from "./make-folders.ts";

export interface Written {
  readonly created: boolean;
  /** Whether the replacement was atomic. Not so for links, hard links and other users' files. */
  readonly atomic: boolean;
  /** The file's stat after the write. */
  readonly stat: BigIntStats;
}

/** The entry's stat, or undefined if nothing is there. */
export async function entryAt(parent: Directory, name: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(parent.at(name), { bigint: true });
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

interface Target {
  readonly parent: Directory;
  readonly name: string;
  /** The existing file. */
  readonly old: BigIntStats | undefined;
  /** Whether it was reached through a link. */
  readonly linked: boolean;
  /** For a new file, before the umask. */
  readonly mode: number;
  readonly makeSuccessor: MakeSuccessor;
}

/** Throws the system's error; the old content is then unchanged, unless it was being written in place. */
export async function writeFile(target: Target, bytes: Uint8Array, signal: AbortSignal): Promise<Written> {
  const { parent, name, old } = target;
  // A read-only file must not be replaced either, even if its folder would allow it.
  if (old) await askRight(parent.at(name), constants.W_OK);
  if (!old || !mustStay(old, target)) {
    try {
      const stat = await replace(target, bytes, signal);
      if (stat) return { created: !old, atomic: true, stat };
    } catch (error) {
      // EBUSY: the file itself is a mount point, like /etc/hosts in containers.
      if (!old || !hasCode(error, "EACCES", "EPERM", "EBUSY")) throw error;
    }
  }
  return { created: false, atomic: false, stat: await overwrite(target, bytes, signal) };
}

/** Replacing the file would break hard links, or change its owner. */
function mustStay(old: BigIntStats, { linked }: Target): boolean {
  if (linked || old.nlink > 1n) return true;
  const user = process.geteuid?.();
  return user !== undefined && user !== 0 && old.uid !== BigInt(user);
}

/** Undefined if that would lose attributes kept beside the old content. */
async function replace(
  target: Target,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<BigIntStats | undefined> {
  const { parent, name, old } = target;
  const temporary = `.matrx-${randomBytes(8).toString("hex")}.tmp`;
  const handle = await openTemporary(target, temporary);
  if (!handle) return undefined;
  let stat: BigIntStats;
  try {
    try {
      if (old) await keepOwner(handle, old);
      await writeAll(handle, bytes, signal);
      stat = await handle.stat({ bigint: true });
      await parent.confirm(temporary, stat);
    } finally {
      await handle.close();
    }
    signal.throwIfAborted();
    await rename(parent.at(temporary), parent.at(name));
  } catch (error) {
    await unlink(parent.at(temporary)).catch(() => undefined);
    throw error;
  }
  await syncFolder(parent.self);
  return stat;
}

function openTemporary({ parent, name, old, mode, makeSuccessor }: Target, temporary: string) {
  if (old) return makeSuccessor(parent, { name, stat: old }, temporary);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  return open(parent.at(temporary), flags, mode);
}

async function keepOwner(handle: FileHandle, old: BigIntStats): Promise<void> {
  const made = await handle.stat({ bigint: true });
  if (made.uid !== old.uid || made.gid !== old.gid) await handle.chown(Number(old.uid), Number(old.gid));
  await handle.chmod(Number(old.mode & 0o7777n));
}

async function overwrite({ parent, name, old }: Target, bytes: Uint8Array, signal: AbortSignal) {
  const flags = constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  await using handle = await open(parent.at(name), flags);
  const stat = await handle.stat({ bigint: true });
  if (stat.ino !== old?.ino || stat.dev !== old.dev) throw new FileChanged();
  await parent.confirm(name, stat);
  signal.throwIfAborted();
  await writeAll(handle, bytes, undefined).catch((cause: unknown) => {
    throw new PartlyWritten(cause);
  });
  await handle.truncate(bytes.length);
  await handle.sync();
  return await handle.stat({ bigint: true });
}

/** The file there is not the one that was there a moment ago. */
export class FileChanged extends Error {}

/** Writing in place failed: part of the old content is lost. */
export class PartlyWritten extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error && "code" in cause ? String(cause.code) : "unknown", { cause });
  }
}

const PIECE = 1024 * 1024;

async function writeAll(
  handle: FileHandle,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  let position = 0;
  while (position < bytes.length) {
    signal?.throwIfAborted();
    const { bytesWritten } = await handle.write(
      bytes,
      position,
      Math.min(PIECE, bytes.length - position),
      position,
    );
    position += bytesWritten;
  }
  await handle.sync();
}
