/** Samples at an interval, for whoever watches. */
import { expect, test } from "vitest";
import { Pulse } from "../../../agent/metrics/pulse.ts";

const EVERY_MS = 20;
const LEFT = new Error("the viewer left");

/** Looks are numbered from 1; a sample names the two that it compares. */
function scene({ failsAt = Number.POSITIVE_INFINITY } = {}) {
  let looks = 0;
  const pulse = new Pulse<number, string>({
    everyMs: EVERY_MS,
    look: async () => {
      if (++looks === failsAt) throw new Error("the system hangs");
      return looks;
    },
    compare: async (before, now) => `${before}-${now}`,
  });
  const watch = (signal = new AbortController().signal) => pulse.watch(signal);
  /** Resolves once it looked so many times more. */
  const looked = async (times: number) => {
    const until = looks + times;
    await expect.poll(() => looks, { interval: EVERY_MS / 2 }).toBeGreaterThanOrEqual(until);
  };
  return { pulse, watch, looked, looks: () => looks };
}

test("each sample is compared with the one before, and all viewers get the same", async () => {
  const { watch } = scene();
  const [one, other] = [watch(), watch()];
  const first = await Promise.all([one.next(), other.next()]);
  expect(first.map(({ value }) => value)).toEqual(["1-2", "1-2"]);
  const second = await Promise.all([one.next(), other.next()]);
  expect(second.map(({ value }) => value)).toEqual(["2-3", "2-3"]);
  await Promise.all([one.return(), other.return()]);
});

test("a viewer that stalls gets the newest sample, and holds up no other", async () => {
  const { watch, looked, looks } = scene();
  const [slow, other] = [watch(), watch()];
  await Promise.all([slow.next(), other.next()]);
  await looked(5);
  const { value } = await slow.next();
  expect(Number(String(value).split("-")[1])).toBeGreaterThanOrEqual(looks() - 1);
  await Promise.all([slow.return(), other.return()]);
});

test("it looks only while somebody watches, and again for the next one", async () => {
  const { pulse, watch, looks } = scene();
  const stop = new AbortController();
  const viewer = watch(stop.signal);
  await viewer.next();
  const waiting = viewer.next();
  stop.abort(LEFT);
  await expect(waiting).rejects.toBe(LEFT);
  expect(pulse.isIdle).toBe(true);
  const before = looks();
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS * 4));
  expect(looks()).toBe(before);
  const next = watch();
  expect((await next.next()).value).toBe(`${before + 1}-${before + 2}`);
  await next.return();
  await expect(watch(stop.signal).next()).rejects.toBe(LEFT);
});

test("a look that fails ends all that watch with its error, and the next viewer begins anew", async () => {
  const { pulse, watch } = scene({ failsAt: 3 });
  const [one, other] = [watch(), watch()];
  await Promise.all([one.next(), other.next()]);
  const [failed, alike] = await Promise.allSettled([one.next(), other.next()]);
  expect([failed, alike]).toMatchObject([
    { status: "rejected", reason: { message: "the system hangs" } },
    { status: "rejected", reason: { message: "the system hangs" } },
  ]);
  expect(pulse.isIdle).toBe(true);
  const next = watch();
  expect((await next.next()).value).toBe("4-5");
  await next.return();
});
