/**
 * Registers Matrx folders outside the usual locations: data of relays, homes named by `MATRX_HOME`, clones that a relay was
 * started from. Every agent on this machine protects all of them. Each folder has its own small file, so that programs can
 * add and remove entries independently.
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

/** Limit on files read: no person registers more. */
const MOST = 1000;
/** Coarsest resolution of a folder's mtime, in milliseconds: two changes within it may look like one. */
const STEP_MS = 2000;

export class FolderRegistry {
  readonly #path: string;
  #known: readonly RegisteredFolder[] = [];
  /** The registry's mtime when it was last read. */
  #readAt: bigint | undefined;

  /** The folder need not exist. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Adds a folder, and removes those that no longer exist. Throws MatrxError. */
  add(entry: Entry): void {
    const folder = resolve(entry.folder);
    const name = createHash("sha256").update(`${entry.kind} ${folder}`).digest("hex").slice(0, 32);
    const file = join(this.#path, `${name}.json`);
    if (readEntry(file) === undefined) writePrivateFile(file, `${JSON.stringify({ ...entry, folder })}\n`);
    for (const other of this.#files()) if (isGone(readEntry(other)?.folder)) remove(other);
  }

  /** All of them; read again only after one was added or removed. */
  list(): readonly RegisteredFolder[] {
    const changed = this.#lastChange();
    if (changed === undefined) return [];
    if (changed !== this.#readAt) {
      this.#known = this.#files().flatMap((file) => readEntry(file) ?? []);
      // The mtime is coarse: after a very recent change, another one may go unnoticed.
      this.#readAt = Date.now() - Number(changed / 1_000_000n) > STEP_MS ? changed : undefined;
    }
    return this.#known;
  }

  #files(): string[] {
    try {
      const names = readdirSync(this.#path).filter((name) => name.endsWith(".json"));
      return names.slice(0, MOST).map((name) => join(this.#path, name));
    } catch {
      return [];
    }
  }

  /** Nanoseconds since 1970; undefined if there is no registry that this user may read. */
  #lastChange(): bigint | undefined {
    try {
      return statSync(this.#path, { bigint: true }).mtimeNs;
    } catch {
      return undefined;
    }
  }
}

/** Limit on the size of a file, in bytes: ours are smaller. */
const MOST_BYTES = 16 * 1024;
/** Another user may have put a pipe there, or a link to anything else. */
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

/** A missing parent does not count: a removed drive takes its mount point along, and may come back. */
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
    // Another program removed it.
  }
}
