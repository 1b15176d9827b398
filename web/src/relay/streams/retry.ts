/** When to try again what a lost connection broke off. */
import type { MatrxError } from "@matrx/shared/errors.ts";
import { ApiError } from "../api-error.ts";

const PAUSE_MS = { first: 500, most: 10_000 } as const;
/** These pass; anything else stays as it is. */
const PASSING: ReadonlySet<string> = new Set([
  ...["UNAVAILABLE", "DEVICE_OFFLINE", "TIMEOUT", "OUTCOME_UNKNOWN", "RATE_LIMITED"],
]);

/** Whether trying again may help. */
export function isPassing({ code }: MatrxError): boolean {
  return PASSING.has(code);
}

/** Whether it is an error of a call that stays; without a code, the relay could not be reached. */
export function isLasting(error: unknown): boolean {
  return error instanceof ApiError && error.code !== undefined && !PASSING.has(error.code);
}

/** What broke off sooner had hardly worked, in milliseconds. */
const HELD_MS = 10_000;

/** Pauses that grow, each a little longer or shorter than those of others who lost the same connection. */
export class Backoff {
  #pause: number = PAUSE_MS.first;
  #openedAt: number | undefined;

  /** The next one, in milliseconds. */
  next(): number {
    if (this.#openedAt !== undefined && performance.now() - this.#openedAt >= HELD_MS)
      this.#pause = PAUSE_MS.first;
    this.#openedAt = undefined;
    const pause = this.#pause * (0.75 + Math.random() / 2);
    this.#pause = Math.min(PAUSE_MS.most, this.#pause * 2);
    return pause;
  }

  /** It works from now on: if it does for a while, pauses begin anew. */
  opened(): void {
    this.#openedAt = performance.now();
  }
}
