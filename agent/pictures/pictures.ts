/**
 * Pictures on disk: readable only by this user, the newest few, and deleted when the agent ends. What one caller was shown is
 * none of another's business: each has a folder of its own, which is closed to other callers but the owner.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { Mutex } from "@matrx/shared/mutex.ts";
import { hasCode } from "../fs/errors.ts";
import type { ProtectedPaths } from "../fs/protected-paths.ts";

const MOST = 20;

export class Pictures {
  readonly #albums = new Map<string, Album>();
  /** Takes one picture at a time, since each needs a process and memory for all its pixels. */
  readonly mutex = new Mutex();

  /** Those of a grant. */
  of(grant: string): Album {
    const album = this.#albums.get(grant) ?? new Album();
    this.#albums.set(grant, album);
    return album;
  }

  /** What a caller that is not the owner does not see, or not change, of the folders that are there now. */
  protectedFrom(grant: string | undefined): ProtectedPaths {
    const of = (isOwn: boolean) =>
      [...this.#albums].flatMap(([maker, { folder }]) =>
        folder && (maker === grant) === isOwn ? [folder] : [],
      );
    return { closed: of(false), program: of(true) };
  }

  /** Removes those of a grant that is over. */
  endGrant(grant: string): void {
    this.#albums.get(grant)?.close();
    this.#albums.delete(grant);
  }

  close(): void {
    for (const album of this.#albums.values()) album.close();
    this.#albums.clear();
  }
}

export class Album {
  /** Takes one picture at a time, so that those who ask for many hold up nobody else. */
  readonly mutex = new Mutex();
  readonly #kept: string[] = [];
  #folder: string | undefined;
  #made = 0;

  /** Where they are; undefined: none was kept yet. */
  get folder(): string | undefined {
    return this.#folder;
  }

  /** Writes a picture, and removes the oldest beyond the most that are kept. Resolves with its path. */
  async keep(bytes: Uint8Array, extension: string): Promise<string> {
    const file = await this.#write(bytes, extension).catch((error: unknown) => {
      // Something cleaned up the temporary folder.
      if (!hasCode(error, "ENOENT")) throw error;
      this.#folder = undefined;
      return this.#write(bytes, extension);
    });
    this.#kept.push(file);
    for (const old of this.#kept.splice(0, this.#kept.length - MOST)) await rm(old, { force: true });
    return file;
  }

  /** Gives `use` the path of a file that does not exist yet, and deletes the file afterwards. */
  async withScratch<T>(extension: string, use: (file: string) => Promise<T>): Promise<T> {
    const folder = await mkdtemp(path.join(this.#ensureFolder(), "scratch-"));
    try {
      return await use(path.join(folder, `picture.${extension}`));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  close(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#kept.length = 0;
    this.#folder = undefined;
  }

  async #write(bytes: Uint8Array, extension: string): Promise<string> {
    this.#made += 1;
    const name = `picture-${String(this.#made).padStart(4, "0")}.${extension}`;
    const file = path.join(this.#ensureFolder(), name);
    await writeFile(file, bytes, { flag: "wx", mode: 0o600 });
    return file;
  }

  /** With an unpredictable name, 0700. */
  #ensureFolder(): string {
    this.#folder ??= mkdtempSync(path.join(os.tmpdir(), "matrx-pictures-"));
    return this.#folder;
  }
}
