/** When the object looks after its calls: a timer for what is due within seconds, the alarm for what may find it asleep. */

import type { StorageHealth } from "../storage/health.ts";

/** Keeps the object awake. */
export class Timer {
  readonly #run: () => void;
  #due: number | undefined;
  #handle: ReturnType<typeof setTimeout> | null = null;

  constructor(run: () => void) {
    this.#run = run;
  }

  /** Runs by `at` (milliseconds since 1970), or sooner if that was asked for. */
  by(at: number): void {
    if (this.#due !== undefined && this.#due <= at) return;
    clearTimeout(this.#handle);
    this.#due = at;
    this.#handle = setTimeout(
      () => {
        this.#due = undefined;
        this.#run();
      },
      Math.max(0, at - Date.now()),
    );
  }
}

/** Lets the object sleep. */
export class Alarm {
  readonly #storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm">;
  readonly #health: Pick<StorageHealth, "isFailing" | "wrote">;
  /** Asked for while it is looked up which one is set. */
  #wanted: number | undefined;

  constructor(
    storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm">,
    health: Pick<StorageHealth, "isFailing" | "wrote">,
  ) {
    this.#storage = storage;
    this.#health = health;
  }

  /** Rings by `at` (milliseconds since 1970), or sooner if that was asked for, at the same time too. */
  async by(at: number): Promise<void> {
    if (this.#health.isFailing) return;
    const lookedUp = this.#wanted !== undefined;
    this.#wanted = Math.min(at, this.#wanted ?? at);
    if (lookedUp) return;
    const set = await this.#storage.getAlarm();
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (set !== null && set <= wanted) return;
    const setting = this.#storage.setAlarm(wanted);
    this.#health.wrote();
    await setting;
  }
}
