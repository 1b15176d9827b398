/** A file to be changed or created: its folder is kept open, so that what was checked is what is changed (no TOCTOU race). */
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open, stat as statOf } from "node:fs/promises";
import { homedir } from "node:os";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { Directory } from "../platform/directory.ts";
import { isWithin } from "../platform/path-syntax.ts";
import { bytesFrom, sha256Of } from "../text/chunks.ts";
import { shownName } from "../text/display-name.ts";
import type { FileAccess, ResolvedPath } from "./access.ts";
import { explained } from "./errors.ts";
import { refuseOddKind } from "./open-file.ts";
import { canonicalOf } from "./resolve.ts";
import {
  type Content,
  contentOf,
  entryAt,
  FileChanged,
  NotReplaceable,
  PartlyWritten,
  replaceFile,
  type Written,
  writeFile,
} from "./write-file.ts";

export class OpenedFile {
  readonly place: ResolvedPath;
  readonly #access: FileAccess;
  readonly #parent: Directory;
  readonly #name: string;

  private constructor(access: FileAccess, place: ResolvedPath, parent: Directory, name: string) {
    this.place = place;
    this.#access = access;
    this.#parent = parent;
    this.#name = name;
  }

  /** Its folder must exist. Close it. Throws MatrxError. */
  static async open(access: FileAccess, place: ResolvedPath): Promise<OpenedFile> {
    const { folder, name } = access.parentOf(place);
    if (name === "") throw isFolderError(place);
    return new OpenedFile(access, place, await access.openFolder(folder, place.shown), name);
  }

  /** A path to it, valid while it is open. */
  get path(): string {
    return this.#parent.at(this.#name);
  }

  /** Its folder, valid while it is open. */
  get parent(): Directory {
    return this.#parent;
  }

  /** The form that moving and deleting take. */
  asEntry(stat: BigIntStats): OpenedEntry {
    return { place: this.place, parent: this.#parent, name: this.#name, stat };
  }

  /** The ordinary file there, or undefined. Throws MatrxError if it is something else, or protected. */
  async entry(): Promise<BigIntStats | undefined> {
    const stat = await explained(this.place.shown, "look at", () => entryAt(this.#parent, this.#name));
    if (!stat) return undefined;
    if (stat.isDirectory()) throw isFolderError(this.place);
    refuseOddKind(stat, this.place);
    this.#access.inspectChange(stat, this.place.shown);
    return stat;
  }

  /** As `entry`, and it must still be there. Throws MatrxError. */
  async existing(): Promise<BigIntStats> {
    const stat = await this.entry();
    if (!stat) throw changed(this.place);
    return stat;
  }

  /** Its content, bounded by the size in `stat`. Throws MatrxError. */
  read(stat: BigIntStats, signal: AbortSignal): Promise<Buffer> {
    return this.whileOpen(stat, async (handle) => {
      const buffer = Buffer.allocUnsafe(Number(stat.size));
      let filled = 0;
      for await (const piece of bytesFrom(handle, 0, signal)) {
        if (filled + piece.length > buffer.length) throw changed(this.place);
        filled += piece.copy(buffer, filled);
      }
      return buffer.subarray(0, filled);
    });
  }

  /** The SHA-256 of its content, in hex. Throws MatrxError. */
  sha256(stat: BigIntStats, signal: AbortSignal): Promise<string> {
    return this.whileOpen(stat, (handle) => sha256Of(handle, signal));
  }

  /** Throws MatrxError, or the system's error. */
  setMode(stat: BigIntStats, mode: number): Promise<void> {
    return this.whileOpen(stat, (handle) => handle.chmod(mode));
  }

  /** Opens it for reading if it is still the file of `stat`. Throws MatrxError. */
  async whileOpen<T>(stat: BigIntStats, use: (handle: FileHandle) => Promise<T>): Promise<T> {
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    return await explained(this.place.shown, "read", async () => {
      await using handle = await open(this.path, flags);
      const now = await handle.stat({ bigint: true });
      if (now.ino !== stat.ino || now.dev !== stat.dev) throw changed(this.place);
      await this.#parent.confirm(this.#name, now);
      return await use(handle);
    });
  }

  /** Writes the whole file if it is still as in `old`; `mode` is for a new file, before the umask. Throws MatrxError. */
  async write(
    old: BigIntStats | undefined,
    bytes: Uint8Array,
    signal: AbortSignal,
    mode = 0o666,
  ): Promise<Written> {
    return await this.fill(old, contentOf(bytes), signal, mode);
  }

  /** As `write`, with content that is not in memory. */
  async fill(
    old: BigIntStats | undefined,
    content: Content,
    signal: AbortSignal,
    mode = 0o666,
  ): Promise<Written> {
    const target = { ...(await this.#target(old)), mode };
    return await explained(this.place.shown, "write", () =>
      writeFile(target, content, signal).catch((error: unknown) => {
        if (error instanceof FileChanged) throw changed(this.place);
        throw error instanceof PartlyWritten ? partlyWritten(this.place, error) : error;
      }),
    );
  }

  /** Puts another file in its place if it is still as in `old`. Throws MatrxError, `CONFLICT` where only writing in place would do. */
  async replace(old: BigIntStats, content: Content, signal: AbortSignal): Promise<Written> {
    const target = { ...(await this.#target(old)), mode: 0o600 };
    return await explained(this.place.shown, "replace", () =>
      replaceFile(target, content, signal).catch((error: unknown) => {
        throw error instanceof NotReplaceable ? notReplaceableError(this.place.shown) : error;
      }),
    );
  }

  async #target(old: BigIntStats | undefined) {
    await this.confirm(old);
    const linked = await this.#access.isReachedByLink(this.place);
    const { makeSuccessor } = this.#access.platform;
    return { parent: this.#parent, name: this.#name, old, linked, makeSuccessor };
  }

  /** Throws MatrxError `CONFLICT` unless it is still as in `old`. */
  async confirm(old: BigIntStats | undefined): Promise<void> {
    const now = await this.entry();
    if (now?.ino !== old?.ino || now?.size !== old?.size || now?.mtimeNs !== old?.mtimeNs) {
      throw changed(this.place);
    }
  }

  async close(): Promise<void> {
    await this.#parent.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

export function isFolderError(place: ResolvedPath): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `${place.shown} is a folder`, {
    hint: "Name a file in it",
    details: { path: place.shown },
  });
}

/** The file could only be written in place, where a failure leaves half of it. */
export function notReplaceableError(shown: string): MatrxError {
  return toolError(
    "CONFLICT",
    `${shown} cannot be replaced in one step: it has several names, another owner, or attributes that cannot be copied`,
    {
      hint: "Delete it first, choose another name, or set in_place; if that fails halfway, half of each content is there",
      details: { path: shown, reason: "in_place" },
    },
  );
}

function changed(place: ResolvedPath): MatrxError {
  return toolError("CONFLICT", `${place.shown} was just changed by another program; nothing was written`, {
    hint: "Read it, then write again",
    details: { path: place.shown },
  });
}

function partlyWritten(place: ResolvedPath, cause: PartlyWritten): MatrxError {
  return toolError(
    "TOOL_EXECUTION_FAILED",
    `Writing ${place.shown} failed partway (${cause.message}): it now has part of the new content and the rest of the old`,
    {
      hint: "Free some space, then write it again",
      details: { path: place.shown, system_code: cause.message },
      cause,
    },
  );
}

export interface OpenedEntry {
  readonly place: ResolvedPath;
  readonly parent: Directory;
  readonly name: string;
  /** Its own stat: a link's, not its target's. */
  readonly stat: BigIntStats;
}

/**
 * Opens the folder of an entry that was found with the intent `remove`. Close its parent. Throws MatrxError, also for what
 * nobody would mean to move or delete as a whole: the root, the home folder, system folders, mount points.
 */
export async function openEntry(access: FileAccess, place: ResolvedPath): Promise<OpenedEntry> {
  const { folder, name } = access.parentOf(place);
  if (name === "") throw needed(place, "it is the root of the file system");
  const parent = await access.openFolder(folder, place.shown);
  try {
    return await explained(place.shown, "look at", async () => {
      const stat = await lstat(parent.at(name), { bigint: true });
      access.inspect(stat, place.shown);
      if (stat.isDirectory()) await refuseNeeded(access, place, stat, parent);
      return { place, parent, name, stat };
    });
  } catch (error) {
    await parent.close();
    throw error;
  }
}

async function refuseNeeded(
  { platform }: FileAccess,
  place: ResolvedPath,
  stat: BigIntStats,
  parent: Directory,
): Promise<void> {
  const { path } = place;
  const home = await canonicalOf(homedir(), platform).catch(() => undefined);
  if (home && isWithin(home.path, path, platform)) {
    throw needed(place, home.path === path ? "it is the home folder" : "the home folder is in it");
  }
  if (platform.systemFolders.some((folder) => platform.fold(folder) === platform.fold(path))) {
    throw needed(place, "it is a system folder");
  }
  const mounted = platform.mounts().points.find((point) => isWithin(point, path, platform));
  if (mounted === path || (await statOf(parent.self, { bigint: true })).dev !== stat.dev) {
    throw needed(place, "another file system is mounted there");
  }
  if (mounted !== undefined) {
    throw needed(place, `another file system is mounted in it, at ${shownName(mounted)}`);
  }
}

function needed({ shown }: ResolvedPath, why: string): MatrxError {
  return toolError("PERMISSION_DENIED", `${shown} can't be moved or deleted: ${why}`, {
    hint: "Name the entries in it one by one",
    details: { path: shown },
  });
}
