/** One sample, and samples at an interval, of a machine whose counters are counted on. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { Metrics } from "../../../agent/metrics/metrics.ts";
import type { Sample } from "../../../agent/metrics/sample.ts";
import type { Drive, Platform } from "../../../agent/platform/platform.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

interface Machine {
  readonly name?: Platform["name"];
  readonly drives?: () => Promise<Drive[]>;
}

/** Each look finds 10 more of 40, and a disk that has read the look's number of bytes. */
function machine({ name = "Linux", drives = async () => [] }: Machine = {}) {
  let looks = 0;
  const metrics = new Metrics({
    ...{ name, drives },
    openMeter: () => ({
      async read() {
        looks++;
        return {
          at: performance.now(),
          processors: [{ busy: looks * 10, total: looks * 40 }],
          memory: { total: 100, available: 60, swapTotal: 0, swapUsed: 0 },
          disks: { read: looks, written: 0 },
          ...{ interfaces: [], temperatures: null },
        };
      },
    }),
  });
  const now = () => metrics.now(new AbortController().signal);
  return { metrics, now, looks: () => looks };
}

const LEFT = new Error("the caller left");

test("the first sample takes two looks a short time apart, the next one is of the time since", async () => {
  const { now, looks } = machine();
  const first = await now();
  expect(first.cpu).toMatchObject({ percent: 25, cores: [25] });
  expect(first.over_ms).toBeGreaterThanOrEqual(249);
  expect(looks()).toBe(2);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const second = await now();
  expect(looks()).toBe(3);
  expect(second.over_ms).toBeGreaterThanOrEqual(299);
  // What was read a moment ago says too little.
  expect((await now()).over_ms).toBeGreaterThanOrEqual(249);
  expect(looks()).toBe(5);
});

test("who gives up while the first is taken is not kept", async () => {
  const stop = new AbortController();
  const waiting = machine().metrics.now(stop.signal);
  stop.abort(LEFT);
  await expect(waiting).rejects.toBe(LEFT);
});

test("viewers at the same interval share its looks; without any there are none", async () => {
  const { metrics, looks } = machine();
  const stop = new AbortController();
  const viewers = [1000, 1000, 1000, 2000].map((everyMs) => metrics.every(everyMs, stop.signal));
  const first = await Promise.all(viewers.slice(0, 3).map((viewer) => viewer.next()));
  const at = first.map(({ value }) => (value as Sample).at);
  expect(new Set(at).size).toBe(1);
  const last = viewers[3]?.next();
  expect(metrics.running).toBe(2);
  // Two of the first interval, and one of the other.
  expect(looks()).toBe(3);
  const waiting = [...viewers.slice(0, 3).map((viewer) => viewer.next()), last];
  stop.abort(LEFT);
  for (const end of await Promise.allSettled(waiting))
    expect(end).toEqual({ status: "rejected", reason: LEFT });
  expect(metrics.running).toBe(0);
});

test("a drive that does not answer is named, and holds up no sample", async () => {
  const drives = async () => [{ name: "/", path: "/" }];
  expect(await machine({ drives }).now()).toMatchObject({ disks: [{ name: "/" }], silent_disks: [] });
  const gone = async () => [{ name: "N:", path: join(temporaryFolder(), "gone") }];
  expect(await machine({ drives: gone }).now()).toMatchObject({ disks: [], silent_disks: ["N:"] });
  const broken = () => Promise.reject(new Error("no list"));
  expect(await machine({ drives: broken }).now()).toMatchObject({ disks: [], silent_disks: [] });
});

test.each([
  ["Windows", null],
  ["Darwin", expect.any(Array)],
] as const)("%s has this load: %j", async (name, load) => {
  expect((await machine({ name }).now()).cpu.load).toEqual(load);
});
