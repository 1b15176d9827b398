/** Passes on a job's output as it arrives. If it falls behind, it skips ahead instead of queueing: the bytes stay in the log. */
import { type FSWatcher, watch } from "node:fs";
import { withoutPart } from "../text/sniff.ts";
import type { Job } from "./job.ts";

/** Bytes passed on at once: at most one frame, because offsets cannot be found within text that is not UTF-8. */
const PIECE = 8 * 1024;
/** If it is further behind than this, it skips ahead, in bytes. */
const MOST_BEHIND = 1024 * 1024;
/** Polling interval in milliseconds, because not every file system reports changes. */
const LOOK_EVERY = 250;

/** `offset` is where `text` begins in the log, in bytes; a jump is a gap. */
export type OnText = (offset: number, text: string) => void;

export class LogFollower {
  readonly #job: Job;
  readonly #onText: OnText;
  readonly #timer: NodeJS.Timeout;
  #watcher: FSWatcher | undefined;
  #offset = 0;
  #reading: Promise<void> = Promise.resolve();
  #waiting = false;

  constructor(job: Job, onText: OnText) {
    this.#job = job;
    this.#onText = onText;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY);
    try {
      this.#watcher = watch(job.log.file, () => this.#look());
      this.#watcher.on("error", () => undefined);
    } catch {
      // The system has no watches left: the timer is enough.
    }
    this.#look();
  }

  /** Hands on what is left, and stops. */
  async finish(): Promise<void> {
    clearInterval(this.#timer);
    this.#watcher?.close();
    this.#look();
    await this.#reading;
    await this.#read(true).catch(() => undefined);
  }

  #look(): void {
    if (this.#waiting) return;
    this.#waiting = true;
    this.#reading = this.#reading.then(() => {
      this.#waiting = false;
      return this.#read(false).catch(() => undefined);
    });
  }

  async #read(isLast: boolean): Promise<void> {
    const size = await this.#job.log.size();
    if (size - this.#offset > MOST_BEHIND) this.#offset = size - PIECE;
    while (this.#offset < size) {
      const { bytes, offset } = await this.#job.log.read(this.#offset, PIECE);
      // An incomplete character waits for the rest of its bytes.
      const whole = isLast && offset + bytes.length >= size ? bytes : withoutPart(bytes);
      if (whole.length === 0) break;
      this.#offset = offset + whole.length;
      this.#onText(offset, whole.toString("utf8"));
    }
  }
}
