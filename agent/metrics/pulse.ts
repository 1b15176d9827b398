/** Samples at a steady interval for all who watch, and only while somebody does. */
import { setTimeout as sleep } from "node:timers/promises";
import { Newest } from "./newest.ts";

export interface PulseOptions<Reading, Sample> {
  readonly everyMs: number;
  readonly look: () => Promise<Reading>;
  readonly compare: (before: Reading, now: Reading) => Promise<Sample>;
}

export class Pulse<Reading, Sample> {
  readonly #options: PulseOptions<Reading, Sample>;
  readonly #watchers = new Set<Newest<Sample>>();
  #stop: AbortController | undefined;

  constructor(options: PulseOptions<Reading, Sample>) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#watchers.size === 0;
  }

  /** A sample after each interval, until the signal aborts, with its reason; a slow reader gets the newest one. */
  async *watch(signal: AbortSignal): AsyncGenerator<Sample, void> {
    signal.throwIfAborted();
    const watcher = new Newest<Sample>(signal);
    this.#watchers.add(watcher);
    if (!this.#stop) void this.#run();
    try {
      for (;;) yield await watcher.take();
    } finally {
      this.#watchers.delete(watcher);
      if (this.isIdle) this.#end();
    }
  }

  async #run(): Promise<void> {
    const stop = new AbortController();
    this.#stop = stop;
    try {
      await this.#beat(stop.signal);
    } catch (error) {
      if (stop.signal.aborted) return;
      for (const watcher of this.#watchers) watcher.fail(error);
      this.#end();
    }
  }

  async #beat(signal: AbortSignal): Promise<never> {
    const { everyMs, look, compare } = this.#options;
    let due = performance.now();
    for (let before = await look(); ; ) {
      // A look that took longer than the interval is not made up for.
      due = Math.max(due + everyMs, performance.now());
      await sleep(due - performance.now(), undefined, { signal, ref: false });
      const now = await look();
      const sample = await compare(before, now);
      signal.throwIfAborted();
      for (const watcher of this.#watchers) watcher.offer(sample);
      before = now;
    }
  }

  #end(): void {
    this.#stop?.abort();
    this.#stop = undefined;
  }
}
