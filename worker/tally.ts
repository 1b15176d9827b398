/** Counts what others can cause as often as they like. The log hears of the first, and of the rest once a minute. */
import { logWarning } from "./log.ts";

const SAID_EVERY = 60_000;

export class Tally {
  /** How many there were in all. */
  total = 0;
  readonly #words: (count: number) => string;
  readonly #later: (at: number) => void;
  #unsaid = 0;
  #saidAt = Number.NEGATIVE_INFINITY;

  /** `words`: the line of the log for so many. `later` is asked to call `flush` at a time, in milliseconds since 1970. */
  constructor(words: (count: number) => string, later: (at: number) => void = () => undefined) {
    this.#words = words;
    this.#later = later;
  }

  /** One more, at `now` (milliseconds since 1970). */
  add(now: number): void {
    this.total++;
    this.#unsaid++;
    this.flush(now);
  }

  /** Says what is due, and asks to be called again for the rest. */
  flush(now: number): void {
    if (this.#unsaid === 0) return;
    const due = this.#saidAt + SAID_EVERY;
    if (due > now) return this.#later(due);
    logWarning(this.#words(this.#unsaid));
    this.#unsaid = 0;
    this.#saidAt = now;
  }
}
