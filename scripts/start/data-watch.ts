/** Notices that the data folder was deleted or replaced while the relay runs: what it still writes would be lost. */
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode, Problem } from "../problem.ts";
import { objectsOf } from "./workerd.ts";

/** How often to look, in milliseconds. */
const LOOK_EVERY = 1000;

export class DataWatch {
  readonly #dataDir: string;
  readonly #first: string;

  /** The folder is as it should stay. */
  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#first = identityOf(objectsOf(dataDir));
  }

  /** Rejects with Problem once the folder is gone; resolves when `signal` aborts. */
  async untilGone(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.require();
      await sleep(LOOK_EVERY, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Throws Problem if the folder is not the one that was there at first. */
  require(): void {
    if (identityOf(objectsOf(this.#dataDir), this.#first) === this.#first) return;
    throw new Problem(
      `The data folder ${this.#dataDir} was deleted or replaced while the relay ran, and what it wrote since then is lost: ` +
        "bring the folder back from a backup, and start again. Without one, a start makes a new relay.",
    );
  }
}

/** What tells a folder from another one at the same path; `unknown` if the system does not tell now. */
function identityOf(folder: string, unknown = ""): string {
  try {
    const { dev, ino } = statSync(folder, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    return hasCode(error, "ENOENT", "ENOTDIR") ? "none" : unknown;
  }
}
