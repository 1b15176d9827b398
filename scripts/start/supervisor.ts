/** Keeps a child running: restarts it with increasing delays whenever it dies, as long as that may help. */
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../problem.ts";
import type { Child, End } from "./process.ts";

/** Pause before a new start, in milliseconds; it doubles until a child stays up. */
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 60_000;
/** A child that lived this long counts as having stayed up, in milliseconds. */
const STAYED_UP = 10_000;

export interface Listeners {
  /** Hears the process id at each start. */
  onStart?: ((pid: number) => void) | undefined;
  /** Hears of each death, and of each start that failed: how, and after how many milliseconds the next start follows. */
  onDeath?: ((how: string, againInMs: number) => void) | undefined;
  /** Tells whether a new start after such an end would end the same way. */
  isFinal?: ((end: End) => boolean) | undefined;
  /** Puts a death into words. */
  describe?: ((end: End) => string | Promise<string>) | undefined;
}

export class Supervisor {
  readonly #start: () => Promise<Child>;
  readonly #listeners: Listeners;
  readonly #stopping = new AbortController();
  readonly #final = Promise.withResolvers<End>();
  #pause = FIRST_PAUSE;
  #child: Child | undefined;
  #running: Promise<void> | undefined;

  /** `start` resolves when the child is ready. */
  constructor(start: () => Promise<Child>, listeners: Listeners = {}) {
    this.#start = start;
    this.#listeners = listeners;
  }

  /** Resolves with the last end once restarting would not help. */
  get gaveUp(): Promise<End> {
    return this.#final.promise;
  }

  get child(): Child | undefined {
    return this.#child;
  }

  /** Starts the child for the first time; an error here is the caller's. */
  async begin(): Promise<void> {
    const child = await this.#start();
    this.#child = child;
    this.#tell(() => this.#listeners.onStart?.(child.pid));
    this.#running = this.#keepRunning(child);
  }

  /** Ends the child for good: asked first, after the grace (milliseconds) by force. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    await this.#child?.stop(graceMs);
    await this.#running;
  }

  async #keepRunning(first: Child): Promise<void> {
    for (let child: Child | undefined = first; child; ) {
      const since = performance.now();
      const end: End = await child.ended;
      if (this.#stopping.signal.aborted) return;
      if (this.#listeners.isFinal?.(end)) return this.#final.resolve(end);
      if (performance.now() - since >= STAYED_UP) this.#pause = FIRST_PAUSE;
      child = await this.#startAgain(await this.#describe(end));
    }
  }

  /** Tries until a start succeeds. Undefined: it was stopped meanwhile. */
  async #startAgain(how: string): Promise<Child | undefined> {
    const { onStart, onDeath } = this.#listeners;
    for (let why = how; ; ) {
      const pause = this.#pause;
      this.#pause = Math.min(2 * pause, LONGEST_PAUSE);
      this.#tell(() => onDeath?.(why, pause));
      if (!(await slept(pause, this.#stopping.signal))) return undefined;
      try {
        const child = await this.#start();
        this.#child = child;
        this.#tell(() => onStart?.(child.pid));
        if (!this.#stopping.signal.aborted) return child;
        await child.stop(0);
        return undefined;
      } catch (error) {
        why = `could not be started (${messageOf(error)})`;
      }
    }
  }

  async #describe(end: End): Promise<string> {
    try {
      return (await this.#listeners.describe?.(end)) ?? end.how;
    } catch {
      return end.how;
    }
  }

  /** A failing listener, perhaps because of a full disk, must not cost us the child. */
  #tell(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      console.error(messageOf(error));
    }
  }
}

/** False: it was stopped meanwhile. */
async function slept(ms: number, signal: AbortSignal): Promise<boolean> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}
