/**
 * How a search asks the file system: without a thread of the pool, which costs ten times as much, in slices between which
 * other work of the agent has its turn; and by threads as long as a drive takes its time.
 */

/** In milliseconds. */
const SLICE = 5;
const SLOW = 10;

export class TimeSlice {
  #since = performance.now();
  #isSlow = false;

  /** Asks the same either way. What is asked now and consists of parts ends early when it `isLate`. */
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

  /** The slice is used up: `rest` before the next step. */
  get isUp(): boolean {
    return performance.now() - this.#since > SLICE;
  }

  async rest(): Promise<void> {
    await new Promise(setImmediate);
    this.#since = performance.now();
  }
}
