/** Processors that stay busy, and calm down. */
import { cpus } from "node:os";
import { expect, onTestFinished, test, vi } from "vitest";
import { CpuWatch, watchCpu } from "../../../agent/monitors/high-cpu-usage.ts";
import { busyProcesses, ProcessorLoad } from "../../../agent/monitors/processor-load.ts";
import { heardParts } from "./parts.ts";

const LIMITS = { percentage: 90, forMs: 300_000, gapMs: 90_000 };
const STEP = 30_000;

/** Looks every 30 seconds; what it said, by the number of the look. */
function play(loads: number[], watch = new CpuWatch(LIMITS)) {
  return loads
    .map((load, n) => ({ n, change: watch.look(load, n * STEP) }))
    .filter(({ change }) => change)
    .map(({ n, change }) => [n, change?.kind, Math.round(change?.percentage ?? 0), change?.minutes]);
}

const busy = (looks: number, load = 95) => Array.from({ length: looks }, () => load);

test("five minutes without a pause, not one less", () => {
  expect(play([1, ...busy(9), 50, ...busy(9)])).toEqual([]);
  expect(play([1, ...busy(10), ...busy(5)])).toEqual([[10, "began", 95, 5]]);
});

test("exactly the limit is not above it", () => {
  expect(play(busy(40, 90))).toEqual([]);
});

test("it is over after a minute well below the limit, not at the first breath", () => {
  expect(play([1, ...busy(10), 85, 70, 95, 70, 85, 70, 60])).toEqual([
    [10, "began", 95, 5],
    [17, "over", 60, 8.5],
  ]);
});

test("a machine that slept was not busy meanwhile", () => {
  const watch = new CpuWatch(LIMITS);
  watch.look(95, 0);
  watch.look(95, STEP);
  expect(watch.look(95, 10 * 60_000)).toBeUndefined();
  expect(watch.look(95, 10 * 60_000 + STEP)).toBeUndefined();
});

test("what an earlier run reported is ended", () => {
  expect(play([10, 10, 10], new CpuWatch(LIMITS, true))).toEqual([[2, "over", 10, undefined]]);
});

test("the load of this machine is a share of all its processors", () => {
  const load = new ProcessorLoad();
  expect(load.since()).toBeUndefined();
  for (const until = performance.now() + 200; performance.now() < until; );
  const percent = load.since() ?? Number.NaN;
  expect(percent).toBeGreaterThan((50 / cpus().length) * 0.5);
  expect(percent).toBeLessThanOrEqual(100);
});

test("processors that are taken away, or that nobody tells of, are no load", () => {
  const [one] = cpus();
  if (!one) throw new Error("this machine does not tell of its processors");
  const answers = [[one, one], [one], [one], []];
  const load = new ProcessorLoad(() => answers.shift() ?? []);
  expect([load.since(), load.since(), load.since(), load.since()]).toEqual(Array(4).fill(undefined));
});

test("the three that are busiest are told by name and number, without arguments", async () => {
  const facts = (pid: number, name: string, cpuPercent: number) => ({
    ...{ pid, name, cpuPercent, command: `${name} --token secret` },
    ...{ parent: 1, user: "ann", memoryBytes: 0, started: 0 },
  });
  const all = async () => [facts(4, "idle", 0), facts(5, "cc", 99.6), facts(6, "vi", 2), facts(7, "ld", 180)];
  const busiest = await busyProcesses({ all, startedWithinMs: 0 }, new AbortController().signal);
  expect(busiest).toEqual([
    { pid: 7, name: "ld", percentage: 180 },
    { pid: 5, name: "cc", percentage: 100 },
    { pid: 6, name: "vi", percentage: 2 },
  ]);
});

test("the event says how busy, for how long, and by whom; and that it is over", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let load = 97;
  const parts = {
    ...heardParts(),
    load: { since: () => load } as ProcessorLoad,
    busiest: async () => [{ pid: 7, name: "make", percentage: 180 }],
  };
  const monitor = watchCpu({ percentage: 90, minutes: 5, every_seconds: 30 }, parts);
  onTestFinished(() => monitor.close());
  await vi.advanceTimersByTimeAsync(6 * 60_000);
  expect(parts.reports).toEqual([
    {
      ...{ type: "high_cpu_usage", key: "cpu", severity: "warning" },
      data: {
        percentage: 97,
        minutes: expect.any(Number),
        processes: [{ pid: 7, name: "make", percentage: 180 }],
      },
    },
  ]);
  load = 5;
  await vi.advanceTimersByTimeAsync(3 * 60_000);
  expect(parts.reports[1]).toMatchObject({ key: "cpu", resolved: true, data: { percentage: 5 } });
  monitor.close();
  expect(vi.getTimerCount()).toBe(0);
});
