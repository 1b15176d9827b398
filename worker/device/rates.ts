/** Token buckets: messages per second and calls per minute, for each grant and for the device's own socket. */

/** Two buckets as numbers, small enough for a socket's attachment. */
export interface RateState {
  messages: number;
  calls: number;
  at: number;
}

export interface RateLimits {
  messages_per_second: number;
  calls_per_minute: number;
}

const GRANTS_KEPT = 32;

export class Rates {
  readonly #buckets: Map<string, RateState>;

  /** `kept`: what `state()` gave before the object slept, so that sleeping refills nothing too early. */
  constructor(kept: readonly (readonly [string, RateState])[] = []) {
    this.#buckets = new Map(kept);
  }

  /** Takes one message. False: too many. */
  takeMessage(key: string, limits: RateLimits, now: number): boolean {
    return takeOne(this.#bucket(key, limits, now), "messages");
  }

  /** Takes one call. False: too many. */
  takeCall(key: string, limits: RateLimits, now: number): boolean {
    return takeOne(this.#bucket(key, limits, now), "calls");
  }

  /** The busiest buckets, for the attachment. */
  state(): [string, RateState][] {
    return [...this.#buckets].sort(([, a], [, b]) => b.at - a.at).slice(0, GRANTS_KEPT);
  }

  #bucket(key: string, limits: RateLimits, now: number): RateState {
    const bucket = this.#buckets.get(key);
    if (!bucket) {
      const full = { messages: limits.messages_per_second, calls: limits.calls_per_minute, at: now };
      if (this.#buckets.size > 8 * GRANTS_KEPT) this.#drop();
      this.#buckets.set(key, full);
      return full;
    }
    const seconds = Math.max(0, now - bucket.at) / 1000;
    bucket.messages = Math.min(
      limits.messages_per_second,
      bucket.messages + seconds * limits.messages_per_second,
    );
    bucket.calls = Math.min(limits.calls_per_minute, bucket.calls + (seconds * limits.calls_per_minute) / 60);
    bucket.at = now;
    return bucket;
  }

  #drop(): void {
    const kept = this.state();
    this.#buckets.clear();
    for (const [key, bucket] of kept) this.#buckets.set(key, bucket);
  }
}

function takeOne(bucket: RateState, what: "messages" | "calls"): boolean {
  if (bucket[what] < 1) return false;
  bucket[what] -= 1;
  return true;
}
