/** A file of this machine, as an end of a copy. */
import { type Hash, hash as hashText } from "node:crypto";
import { type BigIntStats, constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { callerError, type MatrxError } from "@matrx/shared/errors.ts";
import { fileTime, secondsOfDate } from "../../fs/file-time.ts";
import { isNodeError } from "../../platform/private-file.ts";
import type { Sink, Source, SourceFacts } from "./ends.ts";

const PIECE_BYTES = 256 * 1024;

/** Opens a file to be sent. Throws MatrxError. */
export async function openLocalSource(path: string): Promise<Source> {
  // Opening a named pipe would wait for somebody who writes.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const handle = await open(path, flags).catch((cause: unknown) => {
    throw cannot("read", path, cause);
  });
  const before = await handle.stat({ bigint: true });
  if (!before.isFile()) {
    await handle.close();
    throw notAFile("read", path);
  }
  const version = versionOf(before);
  return {
    id: resolve(path),
    facts: {
      size: Number(before.size),
      mode: (before.mode & 0o777n).toString(8).padStart(4, "0"),
      modified: fileTime(before.mtimeMs).toISOString(),
      version,
    },
    async *read(offset) {
      yield* piecesOf(handle, offset, Number(before.size));
      if (versionOf(await handle.stat({ bigint: true })) !== version) throw changed(path);
    },
    async digestStart(hash, length) {
      for await (const piece of piecesOf(handle, 0, length)) hash.update(piece);
      return true;
    },
    close: () => handle.close(),
  };
}

/** A file that is written beside its name, and gets it when it is complete. */
export class LocalSink implements Sink {
  #path: string;
  #part: { readonly path: string; readonly handle: FileHandle } | undefined;
  #facts: SourceFacts | undefined;
  #at = 0;

  constructor(path: string) {
    this.#path = path;
  }

  async begin({ facts }: Pick<Source, "facts">): Promise<number> {
    // A link stays one: what it leads to is replaced.
    this.#path = await realpath(this.#path).catch(() => this.#path);
    const there = await stat(this.#path).catch(() => undefined);
    if (there && !there.isFile() && !there.isDirectory()) throw notAFile("write", this.#path);
    const path = partOf(this.#path, facts.version);
    // Without a version nothing says that what is there belongs to this file.
    if (facts.version === undefined) await rm(path, { force: true });
    try {
      const handle = await open(path, WRITING, 0o600);
      this.#part = { path, handle };
      this.#facts = facts;
      const { size } = await ownPart(handle, path);
      if (size > facts.size) await handle.truncate(0);
      this.#at = size > facts.size ? 0 : size;
    } catch (cause) {
      throw cannot("write", this.#path, cause);
    }
    return this.#at;
  }

  async write(bytes: Uint8Array): Promise<void> {
    const { handle } = this.#opened();
    try {
      // At its place, not at the end: another copy of the same version may be writing the same bytes.
      for (let done = 0; done < bytes.length; )
        done += (await handle.write(bytes, done, bytes.length - done, this.#at + done)).bytesWritten;
    } catch (cause) {
      // A piece of it would be in the way of the next run.
      await handle.truncate(this.#at).catch(() => undefined);
      throw cannot("write", this.#path, cause);
    }
    this.#at += bytes.length;
  }

  async digestStart(hash: Hash, length: number): Promise<boolean> {
    for await (const piece of piecesOf(this.#opened().handle, 0, length)) hash.update(piece);
    return true;
  }

  async finish(): Promise<void> {
    const { path, handle } = this.#opened();
    const { mode, modified } = this.#facts ?? { mode: "0600", modified: new Date().toISOString() };
    try {
      await this.#requireOwn(path, handle);
      const old = await stat(this.#path).catch(() => undefined);
      await handle.chmod(old ? old.mode & 0o777 : Number.parseInt(mode, 8) & 0o777);
      const changed = secondsOfDate(new Date(modified));
      await handle.utimes(changed, changed);
      await handle.sync();
      await this.close();
    } catch (cause) {
      throw cannot("write", this.#path, cause);
    }
    await rename(path, this.#path).catch(async (cause: unknown) => {
      // It would fail again, as when a folder has the name.
      await rm(path, { force: true });
      throw cannot("write", this.#path, cause);
    });
  }

  /** Another copy to the same target may have cut the part, or put another in its place. Throws if so. */
  async #requireOwn(path: string, handle: FileHandle): Promise<void> {
    const [own, there] = [await handle.stat(), await lstat(path).catch(() => undefined)];
    if (own.size !== this.#at || there?.ino !== own.ino)
      throw new Error("another copy to it ran at the same time");
  }

  async discard(): Promise<void> {
    const { path } = this.#opened();
    await this.close();
    await rm(path, { force: true });
  }

  async close(): Promise<void> {
    const part = this.#part;
    this.#part = undefined;
    await part?.handle.close();
  }

  #opened(): { path: string; handle: FileHandle } {
    if (!this.#part) throw new Error("the copy has not begun");
    return this.#part;
  }
}

const WRITING = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

/**
 * Beside the target, and of one version: another one is not continued with it. A hash, since a version comes from the
 * device, which must not choose a path here.
 */
function partOf(path: string, version = "unknown"): string {
  const key = JSON.stringify([basename(path), version]);
  return join(dirname(path), `.matrx-${hashText("sha256", key).slice(0, 24)}.part`);
}

/** In a folder that others write in, somebody may have put a file of theirs there. Throws if so. */
async function ownPart(handle: FileHandle, path: string): Promise<Stats> {
  const stat = await handle.stat();
  const user = process.geteuid?.();
  if (stat.isFile() && stat.nlink === 1 && (user === undefined || stat.uid === user)) return stat;
  throw new Error(`${path} is in the way, and is not yours: remove it`);
}

/** Exactly the bytes up to `end`; each piece is new. Throws MatrxError if there are not so many. */
async function* piecesOf(handle: FileHandle, offset: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = offset; at < end; ) {
    const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end - at));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) throw changed("The file");
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

function versionOf({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs].map((one) => one.toString(36)).join("-");
}

function changed(path: string): MatrxError {
  return callerError("CONFLICT", `${path} changed while it was being sent`, { hint: "Copy it again" });
}

/** Of a device such as /dev/null, a pipe or a socket. */
function notAFile(what: "read" | "write", path: string): MatrxError {
  return callerError("INVALID_PARAMETERS", `Can't ${what} ${path}: it is not an ordinary file`, {
    hint: "Name a file",
  });
}

/** Throws MatrxError for what the system says of a file of this machine. */
export function cannot(what: "read" | "write", path: string, cause: unknown): MatrxError {
  if (isNodeError(cause, "ENOENT"))
    return callerError("NOT_FOUND", `Can't ${what} ${path}: it, or its folder, is not there`, { cause });
  const why = cause instanceof Error ? cause.message : String(cause);
  return callerError("TOOL_EXECUTION_FAILED", `Can't ${what} ${path}: ${why}`, { cause });
}
