/** The one rate limiter, against a bucket of tokens that is counted plainly. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { TokenBucket } from "../../shared/rate-limit.ts";

it("allows what a bucket of tokens allows", () => {
  const rate = fc.record({
    burst: fc.integer({ min: 1, max: 50 }),
    everyMs: fc.integer({ min: 3, max: 60_000 }),
  });
  const pauses = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 100_000 })), { maxLength: 200 });
  fc.assert(
    fc.property(rate, pauses, ({ burst, everyMs }, list) => {
      let now = 1_700_000_000_000;
      const limited = new TokenBucket({ burst, everyMs }, now);
      // Tokens in thousandths of their time, so that they are counted exactly.
      let left = burst * everyMs;
      for (const pause of list) {
        now += pause;
        left = Math.min(burst * everyMs, left + pause);
        const allowed = left >= everyMs;
        expect(limited.readyIn(now) === 0).toBe(allowed);
        expect(limited.take(now)).toBe(allowed);
        if (allowed) left -= everyMs;
      }
    }),
  );
});

it("is full once as much time passed as was taken", () => {
  const bucket = new TokenBucket({ burst: 3, everyMs: 10 }, 0);
  for (let n = 0; n < 3; n++) expect(bucket.take(0)).toBe(true);
  expect([bucket.take(0), bucket.readyIn(0), bucket.isFull(29), bucket.isFull(30)]).toEqual([
    false,
    10,
    false,
    true,
  ]);
});

it("begins anew when the clock was set back", () => {
  const hour = 60 * 60_000;
  const bucket = new TokenBucket({ burst: 2, everyMs: 10 }, hour);
  expect([bucket.take(hour), bucket.take(hour), bucket.take(hour)]).toEqual([true, true, false]);
  expect([bucket.readyIn(1000), bucket.isFull(1000)]).toEqual([0, true]);
  expect([bucket.take(1000), bucket.take(1000), bucket.take(1000)]).toEqual([true, true, false]);
});
