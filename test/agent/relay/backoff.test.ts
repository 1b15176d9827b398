import { expect, test } from "vitest";
import { retryDelay, seldomDelay } from "../../../agent/relay/connection.ts";

/** The moments of all tries in the first minutes, for one constant draw. */
function tries(random: number): number[] {
  const moments: number[] = [];
  let now = 0;
  for (let n = 0; now < 5 * 60_000; n++) {
    now += retryDelay(n, now, () => random);
    moments.push(now);
  }
  return moments;
}

test.each([0, 0.5, 0.999])(
  "first within a second, every 2 s for a minute, then at most 15 s apart (draw %d)",
  (random) => {
    const moments = tries(random);
    expect(moments[0]).toBeLessThanOrEqual(1000);
    const gaps = moments
      .slice(1)
      .map((moment, n) => ({ at: moments[n] ?? 0, gap: moment - (moments[n] ?? 0) }));
    for (const { at, gap } of gaps) {
      if (at < 60_000) expect(gap).toBeGreaterThanOrEqual(1500);
      if (at < 60_000) expect(gap).toBeLessThanOrEqual(2500);
      expect(gap).toBeLessThanOrEqual(15_000);
    }
    expect(gaps.at(-1)?.gap).toBeGreaterThan(11_000);
  },
);

test.each([0, 0.999])("a relay that does not know the device is asked after minutes (draw %d)", (random) => {
  const delay = seldomDelay(() => random);
  expect(delay).toBeGreaterThanOrEqual(3 * 60_000);
  expect(delay).toBeLessThanOrEqual(7 * 60_000);
});
