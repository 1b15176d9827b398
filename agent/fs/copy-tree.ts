/**
 * Copies an entry with everything in it, piece by piece, and syncs it to disk. Keeps mode, times and, where permitted, the
 * owner; links stay links. Does not keep extended attributes and hard links.
 */
import { type BigIntStats, constants } from "node:fs";
import {
  chmod,
  chown,
  type FileHandle,
  lchown,
  lstat,
  lutimes,
  mkdir,
  open,
  opendir,
  readlink,
  stat,
  symlink,
  utimes,
} from "node:fs/promises";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { Directory } from "../platform/directory.ts";
import { toolName } from "../text/tool-names.ts";
import { hasCode } from "./errors.ts";
import { secondsOf } from "./file-time.ts";
import { AS_BYTES } from "./list-folder.ts";
import { syncFolder } from "./make-folders.ts";
import { kindOf } from "./open-file.ts";
import { MOST_DEPTH, tooDeepError } from "./remove-tree.ts";

export interface Copying {
  /** Throws to refuse a folder or file. */
  readonly inspect: (stat: BigIntStats) => void;
  readonly signal: AbortSignal;
  /** The state of each entry when it was copied. */
  readonly copied: Set<string>;
  bytes: number;
}

/** Bounded because each entry's state is kept in memory, so that only what was copied is removed afterwards. */
const MOST_ENTRIES = 200_000;
const PIECE = 1024 * 1024;

/** The state of an entry as text. Without a folder's time, which changes when entries are removed from it. */
export function stateOf(stat: BigIntStats): string {
  return stat.isDirectory() ? `${stat.ino}` : `${stat.ino}:${stat.size}:${stat.mtimeNs}`;
}

/** Throws the system's error; then the copy is incomplete, and the caller must remove it. */
export async function copyTree(
  from: Directory,
  name: Buffer,
  to: Directory,
  copyName: Buffer,
  copying: Copying,
  depth = 0,
): Promise<void> {
  copying.signal.throwIfAborted();
  if (copying.copied.size >= MOST_ENTRIES) throw tooMany();
  const source = from.entry(name);
  const copy = to.entry(copyName);
  const found = await lstat(source, { bigint: true });
  if (found.isSymbolicLink()) {
    await symlink(await readlink(source, { encoding: "buffer" }), copy);
    await lutimes(copy, secondsOf(found.atimeNs), secondsOf(found.mtimeNs));
    await keepOwner(found, (user, group) => lchown(copy, user, group));
  } else if (found.isFile()) {
    await copyFile(source, copy, found, copying);
  } else if (found.isDirectory()) {
    if (depth >= MOST_DEPTH) throw tooDeepError();
    await copyFolder(from, name, to, copyName, copying, depth);
  } else {
    throw cannotBeCopied(found);
  }
  copying.copied.add(stateOf(found));
}

async function copyFolder(
  from: Directory,
  name: Buffer,
  to: Directory,
  copyName: Buffer,
  copying: Copying,
  depth: number,
): Promise<void> {
  await mkdir(to.entry(copyName), 0o700);
  await using copy = await to.openFolder(copyName, () => undefined);
  const source = await from.openFolder(name, copying.inspect);
  try {
    for await (const entry of await opendir(source.self, AS_BYTES)) {
      const bytes = entry.name as unknown as Buffer;
      await copyTree(source, bytes, copy, bytes, copying, depth + 1);
    }
    await keepFacts(byPath(copy.self), await stat(source.self, { bigint: true }));
  } finally {
    await source.close();
  }
  await syncFolder(copy.self);
}

async function copyFile(source: Buffer, copy: Buffer, found: BigIntStats, copying: Copying): Promise<void> {
  const noFollow = constants.O_NOFOLLOW ?? 0;
  await using input = await open(source, constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0));
  const opened = await input.stat({ bigint: true });
  // Also a pipe, which need not end.
  if (stateOf(opened) !== stateOf(found)) throw changedMeanwhileError();
  copying.inspect(opened);
  await using output = await open(
    copy,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow,
    0o600,
  );
  await pour(input, output, copying);
  const after = await input.stat({ bigint: true });
  if (stateOf(after) !== stateOf(found)) throw changedMeanwhileError();
  await keepFacts(output, after);
  await output.sync();
}

async function pour(input: FileHandle, output: FileHandle, copying: Copying): Promise<void> {
  const buffer = Buffer.allocUnsafe(PIECE);
  for (;;) {
    copying.signal.throwIfAborted();
    const { bytesRead } = await input.read(buffer, 0, PIECE, null);
    if (bytesRead === 0) return;
    for (let done = 0; done < bytesRead; ) {
      done += (await output.write(buffer, done, bytesRead - done, null)).bytesWritten;
    }
    copying.bytes += bytesRead;
  }
}

type Facts = Pick<FileHandle, "chown" | "chmod" | "utimes">;

function byPath(path: string): Facts {
  return {
    chown: (user, group) => chown(path, user, group),
    chmod: (mode) => chmod(path, mode),
    utimes: (accessed, modified) => utimes(path, accessed, modified),
  };
}

async function keepFacts(copy: Facts, stat: BigIntStats): Promise<void> {
  const isOwned = await keepOwner(stat, (user, group) => copy.chown(user, group));
  // A setuid file must not become setuid for another owner.
  await copy.chmod(Number(stat.mode & (isOwned ? 0o7777n : 0o777n)));
  await copy.utimes(secondsOf(stat.atimeNs), secondsOf(stat.mtimeNs));
}

/** Keeps the owner if permitted. Returns whether it is the same. */
async function keepOwner(
  stat: BigIntStats,
  change: (user: number, group: number) => Promise<void>,
): Promise<boolean> {
  try {
    await change(Number(stat.uid), Number(stat.gid));
    return true;
  } catch (error) {
    if (hasCode(error, "EPERM", "EINVAL", "ENOSYS", "ENOTSUP", "EOPNOTSUPP")) return false;
    throw error;
  }
}

function cannotBeCopied(stat: BigIntStats): MatrxError {
  return toolError(
    "TOOL_EXECUTION_FAILED",
    `It contains ${kindOf(stat)}, which cannot be moved to another file system`,
    { hint: "Remove it, or move the other entries one by one" },
  );
}

export function changedMeanwhileError(): MatrxError {
  return toolError(
    "CONFLICT",
    "A file changed while it was copied to the other file system; nothing was moved",
    { hint: "Find out what is writing it, then try again" },
  );
}

function tooMany(): MatrxError {
  return toolError(
    "PAYLOAD_TOO_LARGE",
    `The folder has more than ${MOST_ENTRIES} entries, and would move to another file system`,
    { hint: `Use ${toolName("Bash")}: mv, in the background`, details: { limit: MOST_ENTRIES } },
  );
}
