/** How full this machine's drives are. A call into a dead drive may never return: it is waited for once, and not asked again. */
import { stat, statfs } from "node:fs/promises";
import type { Drive, ListDrives } from "../platform/drives.ts";

export interface DriveUse {
  readonly drive: string;
  /** What this user may still write. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export interface DriveReading {
  readonly uses: DriveUse[];
  /** Drives that did not answer. */
  readonly silent: string[];
}

/** Undefined: it is no folder, as a file that is mounted into a container. */
export type AskDrive = (path: string) => Promise<{ free: number; total: number } | undefined>;

const ANSWER_WITHIN = 5000;
/** Each call that hangs holds a thread of the few there are. */
const MOST_HANGING = 2;

export interface DriveUsesOptions {
  readonly list: ListDrives;
  readonly ask?: AskDrive;
  readonly answerWithinMs?: number;
}

export class DriveUses {
  readonly #list: ListDrives;
  readonly #ask: AskDrive;
  readonly #answerWithinMs: number;
  readonly #hanging = new Set<string>();

  constructor({ list, ask = askSystem, answerWithinMs = ANSWER_WITHIN }: DriveUsesOptions) {
    this.#list = list;
    this.#ask = ask;
    this.#answerWithinMs = answerWithinMs;
  }

  /** One after the other: there is no hurry, and threads are few. */
  async read(): Promise<DriveReading> {
    const reading: DriveReading = { uses: [], silent: [] };
    for (const drive of await this.#list()) {
      const use = await this.#useOf(drive);
      if (use === "silent") reading.silent.push(drive.name);
      else if (use) reading.uses.push(use);
    }
    return reading;
  }

  async #useOf({ name, path }: Drive): Promise<DriveUse | "silent" | undefined> {
    if (this.#hanging.has(path) || this.#hanging.size >= MOST_HANGING) return "silent";
    this.#hanging.add(path);
    const asked = this.#ask(path).finally(() => this.#hanging.delete(path));
    const { promise: late, resolve } = Promise.withResolvers<"silent">();
    const timer = setTimeout(() => resolve("silent"), this.#answerWithinMs);
    try {
      const answer = await Promise.race([asked, late]);
      if (answer === undefined || answer === "silent") return answer;
      const { free, total } = answer;
      return total > 0 ? { drive: name, freeBytes: free, totalBytes: total } : undefined;
    } catch {
      // It goes at this moment, is not this user's to see, or is broken: nothing is known of it.
      return "silent";
    } finally {
      clearTimeout(timer);
    }
  }
}

async function askSystem(path: string): Promise<{ free: number; total: number } | undefined> {
  if (!(await stat(path)).isDirectory()) return undefined;
  const { bavail, blocks, bsize } = await statfs(path);
  return { free: bavail * bsize, total: blocks * bsize };
}
