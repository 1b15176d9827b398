/** Keeps a child running: starts it again when it dies, and gives up when it dies at once again and again. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Child, End } from "./process.ts";

/** Pause before a new start, in milliseconds. */
const PAUSE = 200;
/** A child that lived shorter died fast, in milliseconds. */
const FAST = 5000;
/** Fast deaths in a row, after which it is given up. */
const GIVE_UP_AFTER = 3;

export interface Listeners {
  /** Hears the process id at each start. */
  onStart?: ((pid: number) => void) | undefined;
  /** Hears of each death that a new start follows. */
  onDeath?: ((how: string) => void) | undefined;
  /** Tells whether a new start after such an end would end the same way. */
  isFinal?: ((end: End) => boolean) | undefined;
}

export class Supervisor {
  readonly #start: () => Promise<Child>;
  readonly #listeners: Listeners;
  #child: Child | undefined;
  #stopping = false;
  #running: Promise<void> | undefined;
  #failed = Promise.withResolvers<End>();

  /** `start` resolves when the child is ready. */
  constructor(start: () => Promise<Child>, listeners: Listeners = {}) {
    this.#start = start;
    this.#listeners = listeners;
  }

  /** Resolves, with how the last one died, when the child is given up. */
  get gaveUp(): Promise<End> {
    return this.#failed.promise;
  }

  get child(): Child | undefined {
    return this.#child;
  }

  /** Starts the child for the first time; an error here is the caller's. */
  async begin(): Promise<void> {
    this.#child = await this.#start();
    this.#listeners.onStart?.(this.#child.pid);
    this.#running = this.#watch(this.#child);
  }

  /** Ends the child for good: asked first, after the grace (milliseconds) by force. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    await this.#child?.stop(graceMs);
    await this.#running;
  }

  async #watch(first: Child): Promise<void> {
    let child = first;
    for (let fastDeaths = 0; ; ) {
      const since = performance.now();
      const end = await child.ended;
      if (this.#stopping) return;
      fastDeaths = performance.now() - since < FAST ? fastDeaths + 1 : 0;
      const isOver = fastDeaths >= GIVE_UP_AFTER || this.#listeners.isFinal?.(end);
      const next = isOver ? undefined : await this.#again(end);
      if (this.#stopping) return;
      if (!next) return this.#failed.resolve(end);
      child = next;
    }
  }

  async #again({ how }: End): Promise<Child | undefined> {
    this.#listeners.onDeath?.(how);
    await sleep(PAUSE);
    if (this.#stopping) return undefined;
    try {
      this.#child = await this.#start();
    } catch {
      return undefined;
    }
    this.#listeners.onStart?.(this.#child.pid);
    if (this.#stopping) await this.#child.stop(0);
    return this.#child;
  }
}
