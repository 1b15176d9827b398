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

/** What counts of a state now. One that the rate cannot reach was left by a clock that was set back since. */
function stateAt(state: number, { burst, everyMs }: Rate, now: number): number {
  return state - now > burst * everyMs + SLACK ? now : Math.max(state, now);
}

/** The state after one more, from the state before it (0: there was none). Undefined: it is one too many. */
export function takeOne(state: number, rate: Rate, now: number): number | undefined {
  const { burst, everyMs } = rate;
  const next = stateAt(state, rate, now) + everyMs;
  return next - now <= burst * everyMs + SLACK ? next : undefined;
}

/** Milliseconds until one more is allowed. */
export function readyIn(state: number, rate: Rate, now: number): number {
  const { burst, everyMs } = rate;
  return Math.max(0, Math.ceil(stateAt(state, rate, now) - (burst - 1) * everyMs - SLACK - now));
}

/** The time to tell one that is refused: after the one told before, not before `ready`, and not for that after `latest`. */
export function promisedAfter(promised: number, ready: number, everyMs: number, latest: number): number {
  return Math.max(ready, Math.min(promised + everyMs, latest));
}

/** A rate with its state in memory. */
export class TokenBucket {
  readonly #rate: Rate;
  #state: number;
  /** The latest time that a refused one was told. */
  #promised = 0;

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

  /**
   * Milliseconds after which one that was refused is not too early, if all that were refused before come back when they
   * were told: so many that come at once are not sent back at once.
   */
  promise(now: number): number {
    const { burst, everyMs } = this.#rate;
    this.#promised = promisedAfter(this.#promised, now + this.readyIn(now), everyMs, now + burst * everyMs);
    return Math.ceil(this.#promised - now - SLACK);
  }

  /** Whether the bucket is full again, and so equivalent to a new one. */
  isFull(now: number): boolean {
    return stateAt(this.#state, this.#rate, now) <= now;
  }
}
