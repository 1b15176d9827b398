/** Hands on a job's output as it arrives. Falls behind by leaping ahead, never by gathering: the bytes stay in the log. */
import { type FSWatcher, watch } from "node:fs";
import { withoutPart } from "../text/sniff.ts";
import type { Job } from "./job.ts";

/** Bytes handed on at once: no more than one frame carries, because what is no UTF-8 tells no offsets within it. */
const PIECE = 8 * 1024;
/** Further behind than this it leaps, in bytes. */
const MOST_BEHIND = 1024 * 1024;
/** Also looks without being told of a change, in milliseconds: not every file system tells. */
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
      // The system has no watches left: the timer does.
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
      // A character is handed on when all of it is there.
      const whole = isLast && offset + bytes.length >= size ? bytes : withoutPart(bytes);
      if (whole.length === 0) break;
      this.#offset = offset + whole.length;
      this.#onText(offset, whole.toString("utf8"));
    }
  }
}
