/** Counts what others can cause as often as they like. The log hears of the first, and of the rest once a minute. */

const SAID_EVERY = 60_000;

export class Tally {
  readonly #words: (count: number) => string;
  #count = 0;
  #saidAt = Number.NEGATIVE_INFINITY;

  /** `words`: the line of the log for so many. */
  constructor(words: (count: number) => string) {
    this.#words = words;
  }

  /** One more, at `now` (milliseconds since 1970). */
  add(now: number): void {
    this.#count++;
    this.flush(now);
  }

  /** When what was counted can be said, in milliseconds since 1970; undefined: all was said. */
  get due(): number | undefined {
    return this.#count > 0 ? this.#saidAt + SAID_EVERY : undefined;
  }

  /** Says what is due. */
  flush(now: number): void {
    if (this.due === undefined || this.due > now) return;
    console.warn(this.#words(this.#count));
    this.#count = 0;
    this.#saidAt = now;
  }
}
