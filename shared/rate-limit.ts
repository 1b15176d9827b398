/**
 * Rate limits with a burst: the generic cell rate algorithm (GCRA), a token bucket whose whole state is one time, so that
 * it fits into a row or an attachment. All times are milliseconds of one clock.
 */

export interface Rate {
  readonly burst: number;
  /** One more is allowed after each such interval. */
  readonly everyMs: number;
}

/** Tolerates rounding errors in sums of fractions. */
const SLACK = 0.01;

/** The state after taking one, given the state before it (0 at first). Undefined if that is one too many. */
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

  /** Starts full. */
  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#state = now;
  }

  /** Takes one. Returns false if none is left. */
  take(now: number): boolean {
    const next = takeOne(this.#state, this.#rate, now);
    if (next !== undefined) this.#state = next;
    return next !== undefined;
  }

  /** Milliseconds until one can be taken. */
  readyIn(now: number): number {
    return readyIn(this.#state, this.#rate, now);
  }

  /** Whether the bucket is full again, and so equivalent to a new one. */
  isFull(now: number): boolean {
    return this.#state <= now;
  }
}
