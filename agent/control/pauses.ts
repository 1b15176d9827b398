/** Pausing this machine: closes the gate at once, then stops what runs for those whom it concerns. */

import type { Paused } from "@matrx/shared/paused.ts";
import type { Logger } from "pino";
import type { PauseFile } from "../config/pause-file.ts";
import type { Activity } from "../core/activity.ts";
import type { Dispatcher } from "../core/dispatcher.ts";

export interface PausesOptions {
  readonly file: PauseFile;
  readonly dispatcher: Pick<Dispatcher, "stopFor">;
  readonly stopJobs: (paused: Paused) => Promise<readonly string[]>;
  readonly activity: Pick<Activity, "notePause">;
  readonly log: Logger;
}

/** What a pause stopped. */
export interface Stopped {
  readonly calls: number;
  /** Commands that ran in the background. */
  readonly jobs: number;
}

/** A change to the file is noticed within this time, in milliseconds. */
const LOOK_EVERY = 1000;
const REASON = "This machine was paused by its user";

export class Pauses {
  readonly #options: PausesOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #listeners = new Set<(paused: Paused | undefined) => void>();
  #known: Paused | undefined;

  /** Obeys the file from now on. Must be begun after the calls of an earlier run were resumed. */
  static begin(options: PausesOptions): Pauses {
    const pauses = new Pauses(options);
    pauses.#obeyLater();
    return pauses;
  }

  private constructor(options: PausesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY).unref();
  }

  /** Whom the machine is closed to; undefined if to nobody. */
  get current(): Paused | undefined {
    return this.#options.file.current;
  }

  /** Calls the listener whenever it changes. */
  onChange(listener: (paused: Paused | undefined) => void): void {
    this.#listeners.add(listener);
  }

  /** Pauses, and resolves when everything concerned has stopped. Never opens what was closed. Throws MatrxError. */
  async pause(paused: Paused): Promise<Stopped> {
    try {
      this.#options.file.pause(paused);
    } finally {
      this.#tell();
    }
    return await this.#stop();
  }

  /** Opens the machine to everyone. Throws MatrxError if the file cannot be deleted. */
  resume(): void {
    this.#options.file.resume();
    this.#tell();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#listeners.clear();
  }

  #look(): void {
    this.#options.file.look();
    if (this.current !== this.#known) this.#obeyLater();
  }

  #obeyLater(): void {
    this.#tell();
    this.#stop().catch((err) => this.#options.log.error({ err }, "a pause could not stop all that ran"));
  }

  /** Reports a change. */
  #tell(): void {
    const { activity, file, log } = this.#options;
    const paused = this.current;
    if (paused === this.#known) return;
    this.#known = paused;
    if (paused)
      log.warn({ paused, damage: file.damage }, "this machine is paused: to open it, run matrx resume");
    else log.info("this machine is not paused any more");
    activity.notePause(paused);
    for (const listener of this.#listeners) listener(paused);
  }

  async #stop(): Promise<Stopped> {
    const { dispatcher, stopJobs } = this.#options;
    const paused = this.current;
    if (!paused) return { calls: 0, jobs: 0 };
    const [calls, first] = await Promise.all([dispatcher.stopFor(paused, REASON), stopJobs(paused)]);
    // A stopped call may have been about to start one.
    const later = await stopJobs(paused);
    const jobs = [...first, ...later].filter((call) => !calls.has(call));
    return { calls: calls.size, jobs: jobs.length };
  }
}
