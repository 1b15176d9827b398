/**
 * Registers Matrx folders that are not in their usual places: data of relays, homes named by `MATRX_HOME`, clones that a
 * relay was started from. Every agent on this machine closes all of them to its tools. There is one small file per folder,
 * so that folders are added and removed atomically.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import * as z from "zod";
import { isNodeError, writePrivateFile } from "../platform/private-file.ts";

const entrySchema = z.object({
  folder: z.string().min(1).max(4096),
  /** `data`: keys, data, credentials. `program`: code. */
  kind: z.enum(["data", "program"]),
});
type Entry = z.infer<typeof entrySchema>;

export interface RegisteredFolder extends Entry {
  /** The user who registered it. */
  readonly user: number;
}

/** Limit on files to read: no person has more folders. */
const MOST = 1000;
/** Coarsest resolution of a folder's mtime, in milliseconds: two changes within it may look like one. */
const STEP_MS = 2000;

export class FolderRegistry {
  readonly #place: string;
  #known: readonly RegisteredFolder[] = [];
  /** The last change of the registry that was read. */
  #readAt: bigint | undefined;

  /** `place` is a folder that need not exist. */
  constructor(place: string) {
    this.#place = place;
  }

  /** Adds a folder, and removes those that no longer exist. Throws MatrxError. */
  add(entry: Entry): void {
    const folder = resolve(entry.folder);
    const name = createHash("sha256").update(`${entry.kind} ${folder}`).digest("hex").slice(0, 32);
    const file = join(this.#place, `${name}.json`);
    if (readEntry(file) === undefined) writePrivateFile(file, `${JSON.stringify({ ...entry, folder })}\n`);
    for (const other of this.#files()) if (isGone(readEntry(other)?.folder)) remove(other);
  }

  /** All registered folders; read again only after one was added or removed. */
  list(): readonly RegisteredFolder[] {
    const changed = this.#lastChange();
    if (changed === undefined) return [];
    if (changed !== this.#readAt) {
      this.#known = this.#files().flatMap((file) => readEntry(file) ?? []);
      // Because of the coarse mtime, a folder that changed just now may change again unnoticed.
      this.#readAt = Date.now() - Number(changed / 1_000_000n) > STEP_MS ? changed : undefined;
    }
    return this.#known;
  }

  #files(): string[] {
    try {
      const names = readdirSync(this.#place).filter((name) => name.endsWith(".json"));
      return names.slice(0, MOST).map((name) => join(this.#place, name));
    } catch {
      return [];
    }
  }

  /** Nanoseconds since 1970; undefined if there is no registry that this user may read. */
  #lastChange(): bigint | undefined {
    try {
      return statSync(this.#place, { bigint: true }).mtimeNs;
    } catch {
      return undefined;
    }
  }
}

/** Longer files are not ours; in bytes. */
const MOST_BYTES = 16 * 1024;
/** Reads with care: another user may have put a pipe there, or a link to anything. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

function readEntry(file: string): RegisteredFolder | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, FLAGS);
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return undefined;
    const bytes = Buffer.alloc(MOST_BYTES);
    const text = bytes.toString("utf8", 0, readSync(descriptor, bytes));
    return { ...entrySchema.parse(JSON.parse(text)), user: stat.uid };
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Whether the folder was deleted. If its parent is gone too, it may be on a drive that comes back. */
function isGone(folder: string | undefined): boolean {
  return folder !== undefined && isAbsent(folder) && !isAbsent(dirname(folder));
}

function isAbsent(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    return isNodeError(error, "ENOENT") || isNodeError(error, "ENOTDIR");
  }
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // Another process removed it.
  }
}
