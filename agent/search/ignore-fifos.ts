/**
 * Named pipes called `.gitignore`. Ripgrep opens anything with this name, and would block on a pipe until something writes
 * to it: this opens and closes the other end, so that ripgrep sees an empty file. Our own reader opens no pipes.
 */
import { closeSync, constants, lstatSync, openSync, realpathSync } from "node:fs";
import { nothingMissed, type Run } from "./engine.ts";
import { walk } from "./walk.ts";

const NAME = ".gitignore";

export class IgnoreFifos {
  readonly #run: Run;
  readonly #found = new Set<string>();
  #search: Promise<void> | undefined;

  constructor(run: Run) {
    this.#run = run;
  }

  /** Unblocks a reader that waits for a pipe. Returns whether there are any: it may wait for them again. */
  release(): boolean {
    // Systems without it have no pipes.
    if (constants.O_NONBLOCK === undefined) return false;
    this.#search ??= this.#lookAround();
    for (const place of this.#found) open(place);
    return this.#found.size > 0;
  }

  /** Ripgrep reads all folders above, and those below that are not ignored. */
  async #lookAround(): Promise<void> {
    const { scope, signal } = this.#run;
    const { dirname, join } = scope.access.platform.path;
    for (let folder = scope.folder; dirname(folder) !== folder; folder = dirname(folder)) this.#note(folder);
    if (scope.includeIgnored) return;
    const all: Run = { scope: { ...scope, showHidden: true }, missed: nothingMissed(), signal };
    try {
      for await (const { above } of walk(all, { deep: true, ordered: false })) {
        this.#note(join(scope.folder, above));
      }
    } catch {
      // The search itself reports what it cannot walk through.
    }
  }

  #note(folder: string): void {
    const place = pipeAt(this.#run.scope.access.platform.path.join(folder, NAME));
    if (place === undefined || this.#found.has(place)) return;
    this.#found.add(place);
    open(place);
  }
}

/** The path of a pipe, also at the end of a link. */
function pipeAt(path: string): string | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat?.isFIFO() && !stat?.isSymbolicLink()) return undefined;
    const place = realpathSync.native(path);
    return lstatSync(place).isFIFO() ? place : undefined;
  } catch {
    return undefined;
  }
}

/** Never throws: a pipe without a reader cannot be opened. */
function open(pipe: string): void {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)));
  } catch {
    // Nobody waits for it.
  }
}
