/**
 * How a search calls the file system: synchronously, since asynchronous calls cost ten times as much, but in short slices
 * so that the agent's other work gets its turn; and asynchronously while a drive is slow.
 */

/** In milliseconds. */
const SLICE = 5;
const SLOW = 10;

export class TimeSlice {
  #since = performance.now();
  #isSlow = false;

  /** Runs the same query either way. A synchronous query of several parts ends early once it `isLate`. */
  async ask<Answer>(
    now: (isLate: () => boolean) => Answer,
    byThreads: () => Promise<Answer>,
  ): Promise<Answer> {
    const began = performance.now();
    const isLate = () => performance.now() - began > SLOW;
    const answer = this.#isSlow ? await byThreads() : now(isLate);
    this.#isSlow = isLate();
    return answer;
  }

  /** Whether the slice is used up: call `rest` before the next step. */
  get isUp(): boolean {
    return performance.now() - this.#since > SLICE;
  }

  async rest(): Promise<void> {
    await new Promise(setImmediate);
    this.#since = performance.now();
  }
}
