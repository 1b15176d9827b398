/** Counts what others can cause as often as they like. The first is logged at once, the rest once a minute. */
import { logWarning } from "./log.ts";

const SAID_EVERY = 60_000;

export class Tally {
  /** The total so far. */
  total = 0;
  readonly #words: (count: number) => string;
  readonly #later: (at: number) => void;
  #unsaid = 0;
  #saidAt = Number.NEGATIVE_INFINITY;

  /** `words` makes the log line for a count. `later` schedules a call of `flush`, in milliseconds since 1970. */
  constructor(words: (count: number) => string, later: (at: number) => void = () => undefined) {
    this.#words = words;
    this.#later = later;
  }

  /** Counts one more, at `now` (milliseconds since 1970). */
  add(now: number): void {
    this.total++;
    this.#unsaid++;
    this.flush(now);
  }

  /** Logs what is due, and schedules another call for the rest. */
  flush(now: number): void {
    if (this.#unsaid === 0) return;
    const due = this.#saidAt + SAID_EVERY;
    if (due > now) return this.#later(due);
    logWarning(this.#words(this.#unsaid));
    this.#unsaid = 0;
    this.#saidAt = now;
  }
}
