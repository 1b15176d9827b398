/**
 * The last word on what a search shows: each path that an engine found is walked to again by descriptors, under policy,
 * grant and protected set, and files are read through what was opened then.
 */
import { isUtf8 } from "node:buffer";
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { MatrxError } from "@matrx/shared/errors.ts";
import { isSystemError } from "../paths/errors.ts";
import { textOfName } from "../paths/names.ts";
import { changedOnTheWay, type Directory } from "../platform/directory.ts";
import type { Missed, Run } from "./engine.ts";
import type { Scope } from "./scope.ts";

const MOST_NOTED = 1000;

export interface CheckedEntry {
  /** Canonical, as bytes. */
  readonly path: Buffer;
  readonly stat: BigIntStats;
}

export interface CheckedFile extends CheckedEntry {
  readonly descriptor: number;
}

/** Keeps the folder of the last path open. Close it. */
export class CheckedFiles {
  readonly #scope: Scope;
  readonly #missed: Missed;
  readonly #unaddressable = new Set<string>();
  #open: { relative: string; canonical: string; folder: Directory } | undefined;

  constructor({ scope, missed }: Pick<Run, "scope" | "missed">) {
    this.#scope = scope;
    this.#missed = missed;
  }

  /** Undefined: it may not be seen, it is gone, or a link stands on the way. */
  look(relative: Buffer): Promise<CheckedEntry | undefined> {
    return this.#at(relative, async ({ at, name, path, shown, folder }) => {
      const stat = lstatSync(at, { bigint: true });
      this.#scope.access.inspect(stat, shown);
      await folder.confirm(name, stat);
      return { path, stat };
    });
  }

  /** Opens an ordinary file; close its descriptor. Undefined: as with `look`, or it cannot be opened. */
  open(relative: Buffer): Promise<CheckedFile | undefined> {
    return this.#at(relative, async ({ at, name, path, shown, folder }) => {
      // What blocks or acts when opened is known by its kind, unopened.
      if (!lstatSync(at).isFile()) return undefined;
      const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
      const descriptor = openSync(at, flags);
      try {
        const stat = fstatSync(descriptor, { bigint: true });
        if (!stat.isFile()) throw changedOnTheWay(shown);
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
    await this.#open?.folder.close();
    this.#open = undefined;
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

  /** A folder whose name is no UTF-8 cannot be opened by it: counted once. */
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

  async #opened(relative: string) {
    if (this.#open?.relative === relative) return this.#open;
    await this.close();
    const { access, folder: top } = this.#scope;
    const canonical = access.platform.path.join(top, relative);
    access.checkCanonical(canonical);
    const folder = await access.openFolder(canonical, canonical);
    this.#open = { relative, canonical, folder };
    return this.#open;
  }
}

interface Target {
  /** The entry, reached through its open folder. */
  readonly at: string | Buffer;
  readonly folder: Directory;
  readonly name: string;
  readonly path: Buffer;
  readonly shown: string;
}
