/** Pictures on disk: readable only by this user, the newest few, and deleted when the agent ends. */
import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { Mutex } from "@matrx/shared/mutex.ts";
import { hasCode } from "../fs/errors.ts";

const MOST = 20;

export class Pictures {
  readonly #label: string;
  #folder: Promise<string> | undefined;
  readonly #kept: string[] = [];
  #made = 0;
  /** Takes one picture at a time, since each needs a process and memory for all its pixels. */
  readonly mutex = new Mutex();

  /** Files are named by the label and a number. */
  constructor(label: string) {
    this.#label = label;
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
    const folder = await mkdtemp(path.join(os.tmpdir(), "matrx-screenshot-"));
    try {
      return await use(path.join(folder, `picture.${extension}`));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  close(): void {
    for (const file of this.#kept.splice(0)) rmSync(path.dirname(file), { recursive: true, force: true });
    this.#folder = undefined;
  }

  async #write(bytes: Uint8Array, extension: string): Promise<string> {
    // A new folder with an unpredictable name, 0700.
    this.#folder ??= mkdtemp(path.join(os.tmpdir(), `matrx-${this.#label}s-`));
    this.#made += 1;
    const name = `${this.#label}-${String(this.#made).padStart(4, "0")}.${extension}`;
    const file = path.join(await this.#folder, name);
    await writeFile(file, bytes, { flag: "wx", mode: 0o600 });
    return file;
  }
}
