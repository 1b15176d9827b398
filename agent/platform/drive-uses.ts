/** How full the machine's drives are; one that does not answer holds up no other. */
import { stat } from "node:fs/promises";
import { type DiskRoom, roomAt } from "./disk-room.ts";
import type { Drive, ListDrives } from "./platform.ts";

export interface DriveUse extends DiskRoom {
  readonly drive: string;
}

export interface DriveReading {
  readonly uses: DriveUse[];
  /** Drives that did not answer. */
  readonly silent: string[];
}

/** Undefined if it is not a folder, such as a file mounted into a container. */
type AskDrive = (path: string) => Promise<DiskRoom | undefined>;

const ANSWER_WITHIN = 5000;
const MOST_HANGING = 2;

export interface DriveUsesOptions {
  readonly list: ListDrives;
  readonly ask?: AskDrive;
  readonly answerWithinMs?: number;
  /** Limit on hanging calls: each blocks one of the four threads of the pool. */
  readonly mostHanging?: number;
}

export class DriveUses {
  readonly #list: ListDrives;
  readonly #ask: AskDrive;
  readonly #answerWithinMs: number;
  readonly #mostHanging: number;
  readonly #hanging = new Set<string>();

  constructor(options: DriveUsesOptions) {
    const { list, ask = askSystem, answerWithinMs = ANSWER_WITHIN, mostHanging = MOST_HANGING } = options;
    this.#list = list;
    this.#ask = ask;
    this.#answerWithinMs = answerWithinMs;
    this.#mostHanging = mostHanging;
  }

  /** Reads one drive at a time: there is no hurry, and threads are few. */
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
    if (this.#hanging.has(path) || this.#hanging.size >= this.#mostHanging) return "silent";
    this.#hanging.add(path);
    const asked = this.#ask(path).finally(() => this.#hanging.delete(path));
    const { promise: late, resolve } = Promise.withResolvers<"silent">();
    const timer = setTimeout(() => resolve("silent"), this.#answerWithinMs);
    try {
      const answer = await Promise.race([asked, late]);
      if (answer === undefined || answer === "silent") return answer;
      return answer.totalBytes > 0 ? { drive: name, ...answer } : undefined;
    } catch {
      // It was just removed, this user may not see it, or it is broken: nothing is known about it.
      return "silent";
    } finally {
      clearTimeout(timer);
    }
  }
}

async function askSystem(path: string): Promise<DiskRoom | undefined> {
  return (await stat(path)).isDirectory() ? await roomAt(path) : undefined;
}
