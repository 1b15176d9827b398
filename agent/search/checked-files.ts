/**
 * The final check on what a search shows: each path that an engine found is opened again by descriptors, under policy,
 * grant and protected set, and files are read through those descriptors, so that no race (TOCTOU) can change them.
 */
import { isUtf8 } from "node:buffer";
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { MatrxError } from "@matrx/shared/errors.ts";
import { isSystemError } from "../fs/errors.ts";
import { type Directory, pathChangedError } from "../platform/directory.ts";
import { TimeSlice } from "../platform/time-slice.ts";
import { textOfName } from "../text/display-name.ts";
import { orderKey } from "./cursor.ts";
import type { Missed, Run } from "./engine.ts";
import type { Scope } from "./scope.ts";

const MOST_NOTED = 1000;
/** How long open folders may be reused, in milliseconds. */
const REUSED_MS = 20;
/** How many folders are open at once; on a deeper path, the first ones and the last. */
const MOST_OPEN = 64;

export interface CheckedEntry {
  /** Canonical, as bytes. */
  readonly path: Buffer;
  readonly stat: BigIntStats;
}

export interface CheckedFile extends CheckedEntry {
  readonly descriptor: number;
}

/** What may be seen of some paths, in their order; undefined as with `look`. */
export async function checkedEntries(
  relatives: readonly Buffer[],
  run: Pick<Run, "scope" | "missed">,
): Promise<(CheckedEntry | undefined)[]> {
  const files = new CheckedFiles(run);
  const slice = new TimeSlice();
  const found: (CheckedEntry | undefined)[] = Array.from({ length: relatives.length });
  try {
    // Folder by folder, so that each is opened once.
    const inOrder = relatives.map((relative, index) => ({ relative, index, key: orderKey(relative) }));
    inOrder.sort((a, b) => (a.key < b.key ? -1 : 1));
    for (const { relative, index } of inOrder) {
      found[index] = await files.look(relative);
      if (slice.isUp) await slice.rest();
    }
  } finally {
    await files.close();
  }
  return found;
}

/** Keeps the folders on the path of the last entry open. Close it. */
export class CheckedFiles {
  readonly #scope: Scope;
  readonly #missed: Missed;
  readonly #unaddressable = new Set<string>();
  /** The scope's folder, and those below it on the path of the last entry. */
  #chain: Opened[] = [];
  /** When the first folder was opened, by `performance.now()`. */
  #begun = 0;

  constructor({ scope, missed }: Pick<Run, "scope" | "missed">) {
    this.#scope = scope;
    this.#missed = missed;
  }

  /** Undefined if it may not be seen, is gone, or is reached by a link. */
  look(relative: Buffer): Promise<CheckedEntry | undefined> {
    return this.#at(relative, async ({ at, name, path, shown, folder }) => {
      const stat = lstatSync(at, { bigint: true });
      this.#scope.access.inspect(stat, shown);
      await folder.confirm(name, stat);
      return { path, stat };
    });
  }

  /** Opens an ordinary file; close its descriptor. Undefined as with `look`, or if it cannot be opened. */
  open(relative: Buffer): Promise<CheckedFile | undefined> {
    return this.#at(relative, async ({ at, name, path, shown, folder }) => {
      // Check the type first: opening other types may block or have effects.
      if (!lstatSync(at).isFile()) return undefined;
      const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
      const descriptor = openSync(at, flags);
      try {
        const stat = fstatSync(descriptor, { bigint: true });
        if (!stat.isFile()) throw pathChangedError(shown);
        this.#scope.access.inspect(stat, shown);
        await folder.confirm(name, stat);
        return { path, stat, descriptor };
      } catch (error) {
        closeSync(descriptor);
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    await this.#closeBelow(0);
  }

  async #at<T>(relative: Buffer, use: (target: Target) => Promise<T | undefined>): Promise<T | undefined> {
    const cut = relative.lastIndexOf("/");
    const above = relative.subarray(0, Math.max(cut, 0));
    if (!isUtf8(above)) return this.#noteUnaddressable(above);
    try {
      return await use(await this.#target(above.toString("utf8"), relative.subarray(cut + 1)));
    } catch (error) {
      if (error instanceof MatrxError || isSystemError(error)) return undefined;
      throw error;
    }
  }

  /** A folder whose name is not UTF-8 cannot be opened by name: counted once. */
  #noteUnaddressable(folder: Buffer): undefined {
    const key = folder.toString("latin1");
    if (this.#unaddressable.has(key) || this.#unaddressable.size >= MOST_NOTED) return;
    this.#unaddressable.add(key);
    this.#missed.unreadable++;
  }

  async #target(above: string, bytes: Buffer): Promise<Target> {
    const { canonical, folder } = await this.#opened(above);
    const { join, sep } = this.#scope.access.platform.path;
    const name = textOfName(bytes);
    const shown = join(canonical, name);
    this.#scope.access.checkCanonical(shown);
    if (isUtf8(bytes)) return { at: folder.at(name), name, path: Buffer.from(shown), shown, folder };
    const at = Buffer.concat([Buffer.from(`${folder.self}/`), bytes]);
    return { at, name, path: Buffer.concat([Buffer.from(canonical + sep), bytes]), shown, folder };
  }

  async #opened(relative: string): Promise<Opened> {
    const last = this.#chain.at(-1);
    if (last?.relative === relative) return last;
    // Folders opened a while ago may have been moved since.
    if (performance.now() - this.#begun > REUSED_MS) await this.close();
    await this.#closeBelow(this.#chain.findLastIndex((one) => isAbove(one.relative, relative)) + 1);
    let above = this.#chain.at(-1) ?? (await this.#begin());
    const rest = above.relative === "" ? relative : relative.slice(above.relative.length + 1);
    for (const name of rest.split("/").filter(Boolean)) above = await this.#openBelow(above, name);
    return above;
  }

  async #begin(): Promise<Opened> {
    const { access, folder: canonical } = this.#scope;
    access.checkCanonical(canonical);
    this.#begun = performance.now();
    return await this.#add({
      relative: "",
      canonical,
      folder: await access.openFolder(canonical, canonical),
    });
  }

  async #openBelow(above: Opened, name: string): Promise<Opened> {
    const { access } = this.#scope;
    const canonical = access.platform.path.join(above.canonical, name);
    access.checkCanonical(canonical);
    const inspect = (stat: BigIntStats) => access.inspect(stat, canonical);
    const folder = await above.folder.openFolder(Buffer.from(name), inspect);
    const relative = above.relative === "" ? name : `${above.relative}/${name}`;
    return await this.#add({ relative, canonical, folder });
  }

  async #add(opened: Opened): Promise<Opened> {
    if (this.#chain.length >= MOST_OPEN) await this.#closeBelow(MOST_OPEN - 1);
    this.#chain.push(opened);
    return opened;
  }

  async #closeBelow(length: number): Promise<void> {
    for (const { folder } of this.#chain.splice(length)) await folder.close();
  }
}

function isAbove(folder: string, path: string): boolean {
  return folder === "" || path === folder || path.startsWith(`${folder}/`);
}

interface Opened {
  readonly relative: string;
  readonly canonical: string;
  readonly folder: Directory;
}

interface Target {
  /** The entry, reached through its open folder. */
  readonly at: string | Buffer;
  readonly folder: Directory;
  readonly name: string;
  readonly path: Buffer;
  readonly shown: string;
}
