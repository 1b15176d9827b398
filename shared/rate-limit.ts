/**
 * So many at once, and one more every so often: the generic cell rate algorithm (GCRA), a token bucket whose whole state is
 * one time, so that it fits a row or an attachment. Times in milliseconds of one clock.
 */

export interface Rate {
  readonly burst: number;
  /** One more is allowed after this long. */
  readonly everyMs: number;
}

/** For what sums of fractions are off by. */
const SLACK = 0.01;

/** The state after one more, from the state before it (0: there was none). Undefined: it is one too many. */
export function takeOne(state: number, { burst, everyMs }: Rate, now: number): number | undefined {
  const next = Math.max(state, now) + everyMs;
  return next - now <= burst * everyMs + SLACK ? next : undefined;
}

/** Milliseconds until one more is allowed. */
function readyIn(state: number, { burst, everyMs }: Rate, now: number): number {
  return Math.max(0, Math.ceil(state - (burst - 1) * everyMs - SLACK - now));
}

/** A rate with its state in memory. */
export class TokenBucket {
  readonly #rate: Rate;
  #state: number;

  /** Begins full. */
  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#state = now;
  }

  /** Takes one. False: none is left. */
  take(now: number): boolean {
    const next = takeOne(this.#state, this.#rate, now);
    if (next !== undefined) this.#state = next;
    return next !== undefined;
  }

  /** Milliseconds until one can be taken. */
  readyIn(now: number): number {
    return readyIn(this.#state, this.#rate, now);
  }

  /** Nothing was taken lately: it is as good as a new one. */
  isFull(now: number): boolean {
    return this.#state <= now;
  }
}
