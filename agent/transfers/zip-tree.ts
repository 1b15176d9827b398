/** Walks a folder by descriptors into a zip. Follows no links. */
import { isUtf8 } from "node:buffer";
import { type BigIntStats, constants } from "node:fs";
import { lstat, open, opendir, readlink } from "node:fs/promises";
import { MatrxError, toolError } from "@matrx/shared/errors.ts";
import { stampOf } from "../core/approved-state.ts";
import type { FileAccess, ResolvedPath } from "../fs/access.ts";
import { isSystemError } from "../fs/errors.ts";
import { fileTime } from "../fs/file-time.ts";
import { AS_BYTES } from "../fs/list-folder.ts";
import { kindOf } from "../fs/open-file.ts";
import { MOST_DEPTH } from "../fs/remove-tree.ts";
import { isUnfinished } from "../fs/unfinished.ts";
import type { Directory } from "../platform/directory.ts";
import { shownName, textOfName } from "../text/display-name.ts";
import { isWorthDeflating } from "./media-types.ts";
import { PIECE_BYTES, piecesOf, Shrunk } from "./send-file.ts";
import type { EntryFacts, ZipWriter } from "./zip-writer.ts";

export interface Skipped {
  /** Its path in the zip, on one line. */
  readonly path: string;
  readonly reason: string;
}

/** The directory of a zip is in memory until its end. */
const MOST_ENTRIES = 500_000;
/** The format has 65,535, in bytes. */
const MOST_PATH_BYTES = 65_000;

/** An entry, by its folder's descriptor. */
interface Found {
  readonly folder: Directory;
  readonly name: Buffer;
  /** Canonical; of a name that is not UTF-8, as it is shown. */
  readonly path: string;
  /** Its path in the zip. */
  readonly within: string;
  readonly depth: number;
}

export class ZipTree {
  readonly #access: FileAccess;
  readonly #zip: ZipWriter;
  readonly #signal: AbortSignal;
  /** What the system did not let us read, or what changed meanwhile. What is closed to the caller is not in it. */
  readonly skipped: Skipped[] = [];

  constructor(access: FileAccess, zip: ZipWriter, signal: AbortSignal) {
    this.#access = access;
    this.#zip = zip;
    this.#signal = signal;
  }

  /** Adds a folder under its name, with everything in it. */
  async add(place: ResolvedPath): Promise<void> {
    await using folder = await this.#access.openFolder(place.path, place.shown);
    const name = this.#access.platform.path.basename(place.path);
    const within = name === "" ? "" : `${name}/`;
    if (within) await this.#addFacts(folder, within);
    await this.#addAll(folder, place.path, within, 0);
  }

  async #addFacts(folder: Directory, within: string): Promise<void> {
    const stat = await lstat(`${folder.self}/.`, { bigint: true });
    await this.#zip.add(factsOf(within, stat), Buffer.alloc(0));
  }

  async #addAll(folder: Directory, above: string, within: string, depth: number): Promise<void> {
    const taken = new Set<string>();
    for (const name of await namesIn(folder)) {
      this.#signal.throwIfAborted();
      const text = textOfName(name);
      const path = this.#access.platform.path.join(above, text);
      if (isUnfinished(text) || !this.#access.mayReadCanonical(path)) continue;
      const found = { folder, name, path, within: within + text, depth };
      // A name in UTF-8 may look like the shown form of one that is not.
      if (taken.has(text)) this.#skip(found, "another entry has this name");
      else await this.#try(found);
      taken.add(text);
    }
  }

  async #try(found: Found): Promise<void> {
    try {
      await this.#addEntry(found);
    } catch (error) {
      this.#signal.throwIfAborted();
      const isClosed = error instanceof MatrxError && error.code === "PERMISSION_DENIED";
      if (isClosed || (isSystemError(error) && GONE.includes(error.code))) return;
      if (error instanceof Changed || error instanceof Shrunk) this.#skip(found, "it was being changed");
      else if (isSystemError(error)) this.#skip(found, error.code);
      else throw error;
    }
  }

  async #addEntry(found: Found): Promise<void> {
    if (this.#zip.entries >= MOST_ENTRIES) throw tooManyError();
    const { folder, name, within, depth } = found;
    if (Buffer.byteLength(within) > MOST_PATH_BYTES) return this.#skip(found, "its path is too long");
    const stat = await lstat(folder.entry(name), { bigint: true });
    if (stat.isSymbolicLink()) {
      const target = await readlink(folder.entry(name), { encoding: "buffer" });
      await this.#zip.add(factsOf(within, stat), target);
    } else if (stat.isDirectory()) {
      if (depth >= MOST_DEPTH) return this.#skip(found, "it is nested too deeply");
      await using below = await folder.openFolder(name, (opened) => this.#inspect(opened, found));
      await this.#zip.add(factsOf(`${within}/`, stat), Buffer.alloc(0));
      await this.#addAll(below, found.path, `${within}/`, depth + 1);
    } else if (stat.isFile()) {
      await this.#addFile(found);
    } else {
      this.#skip(found, `it is ${kindOf(stat)}`);
    }
  }

  async #addFile(found: Found): Promise<void> {
    const { folder, name, within } = found;
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    await using file = await open(folder.entry(name), flags);
    const stat = await file.stat({ bigint: true });
    if (!stat.isFile()) throw new Changed();
    this.#inspect(stat, found);
    if (isUtf8(name)) await folder.confirm(name.toString(), stat);
    const facts = factsOf(within, stat);
    const deflates = isWorthDeflating(within);
    const [size, signal] = [Number(stat.size), this.#signal];
    async function* pieces() {
      for await (const piece of piecesOf(file, { offset: 0, length: size })) {
        signal.throwIfAborted();
        yield piece;
      }
      if (stampOf(await file.stat({ bigint: true })) !== stampOf(stat)) throw new Changed();
    }
    if (size > PIECE_BYTES) return await this.#zip.addPieces(facts, pieces(), { size, deflates });
    // Read before its header is written, so that nothing of it need be taken back.
    const content: Buffer[] = [];
    for await (const piece of pieces()) content.push(piece);
    await this.#zip.add(facts, Buffer.concat(content), deflates);
  }

  #inspect(stat: BigIntStats, { path }: Found): void {
    this.#access.inspect(stat, path);
  }

  #skip({ within }: Found, reason: string): void {
    this.skipped.push({ path: shownName(within), reason });
  }
}

/** A file was changed while it was read. */
class Changed extends Error {}

const GONE = ["ENOENT", "ENOTDIR", "ELOOP"];

/** In byte order, so that the same folder gives the same zip. */
async function namesIn(folder: Directory): Promise<Buffer[]> {
  const names: Buffer[] = [];
  for await (const entry of await opendir(folder.self, AS_BYTES)) names.push(entry.name as unknown as Buffer);
  return names.sort(Buffer.compare);
}

function factsOf(within: string, stat: BigIntStats): EntryFacts {
  // Without setuid, setgid and sticky bits: they would mean another user's rights elsewhere.
  const mode = Number(stat.mode & 0o170777n);
  return { name: Buffer.from(within), mode, modified: fileTime(stat.mtimeMs) };
}

function tooManyError(): MatrxError {
  return toolError("PAYLOAD_TOO_LARGE", `The folder has more than ${MOST_ENTRIES} entries`, {
    hint: "Download the folders in it one by one",
    details: { limit: MOST_ENTRIES },
  });
}
