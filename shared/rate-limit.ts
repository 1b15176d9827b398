/** So many at once, and one more every so often. Times in milliseconds of one clock that never goes back. */

export interface TokenBucketOptions {
  readonly burst: number;
  /** One more is allowed after this long. */
  readonly everyMs: number;
}

export class TokenBucket {
  readonly #burst: number;
  readonly #everyMs: number;
  #tokens: number;
  #at: number;

  /** Begins full. */
  constructor({ burst, everyMs }: TokenBucketOptions, now: number) {
    this.#burst = burst;
    this.#everyMs = everyMs;
    this.#tokens = burst;
    this.#at = now;
  }

  /** Takes one. False: none is left. */
  take(now: number): boolean {
    this.#fill(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Milliseconds until one can be taken. */
  readyIn(now: number): number {
    this.#fill(now);
    return this.#tokens >= 1 ? 0 : Math.ceil((1 - this.#tokens) * this.#everyMs);
  }

  /** Nothing was taken lately: it is as good as a new one. */
  isFull(now: number): boolean {
    this.#fill(now);
    return this.#tokens >= this.#burst;
  }

  #fill(now: number): void {
    const passed = Math.max(0, now - this.#at);
    this.#tokens = Math.min(this.#burst, this.#tokens + passed / this.#everyMs);
    this.#at = now;
  }
}
