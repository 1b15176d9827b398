/** Writes a whole file: atomically, by renaming a new file over it, or in place if that would break something. */
import { randomBytes } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { access as askRight, type FileHandle, lstat, open, rename, unlink } from "node:fs/promises";
import type { Directory } from "../platform/directory.ts";
import type { MakeSuccessor } from "../platform/successor.ts";
import { hasCode } from "./errors.ts";
import { secondsOfDate } from "./file-time.ts";
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

/** What a file gets. Written piece by piece, so that a large one is never in memory as a whole. */
export interface Content {
  /** Writes all of it from the file's beginning, and returns the number of bytes. */
  writeTo(handle: FileHandle, signal: AbortSignal | undefined): Promise<number>;
  /** The time of change that the file gets. */
  readonly modified?: Date | undefined;
}

export interface Target {
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
export async function writeFile(target: Target, content: Content, signal: AbortSignal): Promise<Written> {
  const { parent, name, old } = target;
  // A read-only file must not be replaced either, even if its folder would allow it.
  if (old) await askRight(parent.at(name), constants.W_OK);
  if (!old || !mustStay(old, target)) {
    try {
      const stat = await replace(target, content, signal);
      if (stat) return { created: !old, atomic: true, stat };
    } catch (error) {
      // EBUSY: the file itself is a mount point, like /etc/hosts in containers.
      if (!old || !hasCode(error, "EACCES", "EPERM", "EBUSY")) throw error;
    }
  }
  return { created: false, atomic: false, stat: await overwrite(target, content, signal) };
}

/** As `writeFile`, but never in place. Throws NotReplaceable if that would break something. */
export async function replaceFile(target: Target, content: Content, signal: AbortSignal): Promise<Written> {
  const { parent, name, old } = target;
  if (old) await askRight(parent.at(name), constants.W_OK);
  const stat = old && mustStay(old, target) ? undefined : await replace(target, content, signal);
  if (!stat) throw new NotReplaceable();
  return { created: !old, atomic: true, stat };
}

/** Replacing the file would break hard links, or change its owner. */
export function mustStay(old: BigIntStats, { linked }: Pick<Target, "linked">): boolean {
  if (linked || old.nlink > 1n) return true;
  const user = process.geteuid?.();
  return user !== undefined && user !== 0 && old.uid !== BigInt(user);
}

/** Undefined if that would lose attributes kept beside the old content. */
async function replace(
  target: Target,
  content: Content,
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
      await content.writeTo(handle, signal);
      await finish(handle, content);
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

/** Gives a file the owner, group and mode of the one that it replaces. */
export async function keepOwner(handle: FileHandle, old: BigIntStats): Promise<void> {
  const made = await handle.stat({ bigint: true });
  if (made.uid !== old.uid || made.gid !== old.gid) await handle.chown(Number(old.uid), Number(old.gid));
  await handle.chmod(Number(old.mode & 0o7777n));
}

async function overwrite({ parent, name, old }: Target, content: Content, signal: AbortSignal) {
  const flags = constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  await using handle = await open(parent.at(name), flags);
  const stat = await handle.stat({ bigint: true });
  if (stat.ino !== old?.ino || stat.dev !== old.dev) throw new FileChanged();
  await parent.confirm(name, stat);
  signal.throwIfAborted();
  const length = await content.writeTo(handle, undefined).catch((cause: unknown) => {
    throw new PartlyWritten(cause);
  });
  await handle.truncate(length);
  await finish(handle, content);
  return await handle.stat({ bigint: true });
}

/** The file has several names, another owner, or attributes that another file cannot be given. */
export class NotReplaceable extends Error {}

/** The file there is not the one that was there a moment ago. */
export class FileChanged extends Error {}

/** Writing in place failed: part of the old content is lost. */
export class PartlyWritten extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error && "code" in cause ? String(cause.code) : "unknown", { cause });
  }
}

const PIECE = 1024 * 1024;

/** Bytes in memory as the content of a file. */
export function contentOf(bytes: Uint8Array): Content {
  return {
    async writeTo(handle, signal) {
      for (let position = 0; position < bytes.length; ) {
        signal?.throwIfAborted();
        const length = Math.min(PIECE, bytes.length - position);
        position += (await handle.write(bytes, position, length, position)).bytesWritten;
      }
      return bytes.length;
    },
  };
}

async function finish(handle: FileHandle, { modified }: Content): Promise<void> {
  if (modified) {
    const seconds = secondsOfDate(modified);
    await handle.utimes(seconds, seconds);
  }
  await handle.sync();
}
