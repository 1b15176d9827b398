/** Limits calls per minute of each grant, as the device's own policy file says. */
import { agentError } from "@matrx/shared/errors.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { TokenBucket } from "@matrx/shared/rate-limit.ts";
import { retryIn } from "@matrx/shared/retry.ts";

const MINUTE = 60_000;
/** Beyond this many grants, quiet ones are forgotten. */
const GRANTS_KEPT = 256;

interface Counted {
  readonly limit: number;
  readonly bucket: TokenBucket;
}

export class CallRates {
  readonly #grants = new Map<GrantId, Counted>();

  /** Counts a call; `now` is in milliseconds of a monotonic clock. Throws MatrxError `RATE_LIMITED`. */
  count(grant: GrantId, { rates }: Policy, now: number): void {
    const limit = rates?.calls_per_minute;
    if (limit === undefined) return;
    const { bucket } = this.#of(grant, limit, now);
    if (bucket.take(now)) return;
    const advice = "the device's owner can raise rates.calls_per_minute in its policy.json";
    const message = `This device accepts ${limit} calls per minute from one token`;
    throw agentError(
      "RATE_LIMITED",
      message,
      retryIn(bucket.promise(now), advice, { calls_per_minute: limit }),
    );
  }

  #of(grant: GrantId, limit: number, now: number): Counted {
    const known = this.#grants.get(grant);
    if (known?.limit === limit) return known;
    if (this.#grants.size >= GRANTS_KEPT) this.#forgetQuiet(now);
    const counted = { limit, bucket: new TokenBucket({ burst: limit, everyMs: MINUTE / limit }, now) };
    this.#grants.set(grant, counted);
    return counted;
  }

  #forgetQuiet(now: number): void {
    for (const [grant, { bucket }] of this.#grants) if (bucket.isFull(now)) this.#grants.delete(grant);
  }
}
