/**
 * Named pipes that ripgrep opens, and would block on until something writes to them. It opens anything called `.gitignore`:
 * this opens and closes the other end, so that ripgrep sees an empty file. Not of pipes that the caller may not read, which
 * other programs may use, nor of those that took a file's place as ripgrep came to it: there the search ends. Our own reader
 * opens no pipes.
 */
import { closeSync, constants, openSync } from "node:fs";
import { entryStat } from "../fs/entry-stat.ts";
import { nothingMissed, type Run } from "./engine.ts";
import { walk } from "./walk.ts";

const NAME = ".gitignore";
/** How often it must be seen to wait: other programs open their pipes too. */
const PATIENCE = 10;
const OTHER_END = constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export class IgnoreFifos {
  readonly #run: Run;
  readonly #found = new Set<string>();
  #search: Promise<void> | undefined;
  #isSearched = false;
  /** How often it was seen to wait for a pipe alone since all of ours are known. */
  #waits = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  /** Unblocks a reader that waits for a pipe. Resolves with whether it waits for one that is not ours to open. */
  async release(pid: number): Promise<boolean> {
    // Systems without it have no pipes.
    if (constants.O_NONBLOCK === undefined) return false;
    this.#search ??= this.#lookAround().finally(() => {
      this.#isSearched = true;
    });
    for (const place of this.#found) void this.#unblock(place);
    const isWaiting = await this.#run.scope.access.platform.processes.waitsForPipe(pid);
    if (!isWaiting || !this.#isSearched) return false;
    // Each of those found keeps it once.
    return ++this.#waits > this.#found.size + PATIENCE;
  }

  /** Ripgrep reads all folders above, and those below that are not ignored. */
  async #lookAround(): Promise<void> {
    const { scope, signal } = this.#run;
    const { dirname, join } = scope.access.platform.path;
    for (let folder = scope.folder; dirname(folder) !== folder; folder = dirname(folder)) {
      await this.#note(folder);
    }
    if (scope.includeIgnored) return;
    const all: Run = { scope: { ...scope, showHidden: true }, missed: nothingMissed(), signal };
    try {
      for await (const { above } of walk(all, { deep: true, ordered: false })) {
        await this.#note(join(scope.folder, above));
      }
    } catch {
      // The search itself reports what it cannot walk through.
    }
  }

  async #note(folder: string): Promise<void> {
    const place = await this.#pipeAt(this.#run.scope.access.platform.path.join(folder, NAME));
    if (place === undefined || this.#found.has(place)) return;
    this.#found.add(place);
    await this.#unblock(place);
  }

  /** The canonical path of a pipe that the caller may read, also at the end of a link. */
  async #pipeAt(path: string): Promise<string | undefined> {
    const entry = entryStat(path);
    if (!entry?.isFIFO() && !entry?.isSymbolicLink()) return undefined;
    try {
      const place = await this.#run.scope.access.find(path, "read");
      return entryStat(place.path)?.isFIFO() ? place.path : undefined;
    } catch {
      return undefined;
    }
  }

  /** Never throws: a pipe without a reader cannot be opened. By descriptor: something else may be there by now. */
  async #unblock(pipe: string): Promise<void> {
    const { access } = this.#run.scope;
    const { dirname, basename } = access.platform.path;
    try {
      await using folder = await access.openFolder(dirname(pipe), pipe);
      const entry = folder.at(basename(pipe));
      if (entryStat(entry)?.isFIFO()) closeSync(openSync(entry, OTHER_END));
    } catch {
      // Nobody waits for it.
    }
  }
}
