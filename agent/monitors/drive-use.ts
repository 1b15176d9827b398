/** How full this machine's drives are. A call into a dead drive may never return: it is waited for once, and not asked again. */
import { stat } from "node:fs/promises";
import { type DiskRoom, roomAt } from "../platform/disk-room.ts";
import type { Drive, ListDrives } from "../platform/platform.ts";

export interface DriveUse extends DiskRoom {
  readonly drive: string;
}

export interface DriveReading {
  readonly uses: DriveUse[];
  /** Drives that did not answer. */
  readonly silent: string[];
}

/** Undefined: it is no folder, as a file that is mounted into a container. */
export type AskDrive = (path: string) => Promise<DiskRoom | undefined>;

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
      return answer.totalBytes > 0 ? { drive: name, ...answer } : undefined;
    } catch {
      // It goes at this moment, is not this user's to see, or is broken: nothing is known of it.
      return "silent";
    } finally {
      clearTimeout(timer);
    }
  }
}

async function askSystem(path: string): Promise<DiskRoom | undefined> {
  return (await stat(path)).isDirectory() ? await roomAt(path) : undefined;
}
