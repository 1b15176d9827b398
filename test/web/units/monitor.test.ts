/** What the monitor keeps and draws of a machine's samples, and how often it tries to get them. */
import { afterEach, expect, test, vi } from "vitest";
import { partOf, percent, pointsOf, received } from "../../../web/src/features/monitor/figures.ts";
import { sampleOf } from "../../../web/src/features/monitor/sample.ts";
import { Backoff } from "../../../web/src/relay/streams/retry.ts";

afterEach(() => void vi.useRealTimers());

function sampleAt(at: number, isFirst = false) {
  const sample = sampleOf({ at: "2026-01-01T00:00:00Z" }, { at, isFirst });
  if (!sample) throw new Error("no sample");
  return sample;
}

test("points are those of the range, with a gap where nobody watched", () => {
  const samples = [sampleAt(1_000, true), sampleAt(50_000), sampleAt(80_000, true), sampleAt(81_000)];
  const times = (rangeMs: number) =>
    pointsOf(samples, rangeMs).map(({ at, sample }) => [at, sample !== undefined]);
  expect(times(3_600_000)).toEqual([
    [1_000, true],
    [50_000, true],
    [79_999, false],
    [80_000, true],
    [81_000, true],
  ]);
  expect(times(1_000)).toEqual([
    [80_000, true],
    [81_000, true],
  ]);
  expect(pointsOf([], 60_000)).toEqual([]);
});

test("names that come twice are told apart, and impossible amounts are none", () => {
  const told = {
    at: "2026-01-01T00:00:00Z",
    cpu: { percent: 100.4, cores: [-1, 50, "x", 1e300], load: [1, 2, 3, 4] },
    network: ["eth0", "eth0", "lo"].map((name) => ({
      ...{ name, loopback: name === "lo", received_bytes_per_second: 10, sent_bytes_per_second: -5 },
    })),
    temperatures: [
      { name: "core", celsius: 40 },
      { name: "core", celsius: 1e9 },
    ],
  };
  const sample = sampleOf(told, { at: 0, isFirst: true });
  expect(sample?.cpu).toBe(100);
  expect(sample?.cores).toEqual([undefined, 50, undefined, undefined]);
  expect(sample?.load).toEqual([1, 2, 3]);
  expect(sample?.network.map(({ name, sent }) => [name, sent])).toEqual([
    ["eth0", 0],
    ["eth0 (2)", 0],
    ["lo", 0],
  ]);
  expect(sample && received(sample)).toBe(20);
  expect(sample?.temperatures).toEqual([{ name: "core", celsius: 40 }]);
});

test("of a disk, what its administrator keeps is neither used nor to be had, as df counts", () => {
  const disks = [
    { name: "/", total_bytes: 264, used_bytes: 20, free_bytes: 75 },
    { name: "/old", total_bytes: 100, used_bytes: 50 },
  ];
  const sample = sampleOf({ at: "2026-01-01T00:00:00Z", disks }, { at: 0, isFirst: true });
  expect(sample?.disks.map((disk) => percent((partOf(disk) ?? 0) * 100))).toEqual(["21 %", "50 %"]);
});

test("pauses begin anew only after something has held for a while", () => {
  vi.useFakeTimers();
  const backoff = new Backoff();
  const pauses = Array.from({ length: 5 }, () => {
    backoff.opened();
    return backoff.next();
  });
  expect(pauses.at(-1)).toBeGreaterThan(5_000);
  backoff.opened();
  vi.advanceTimersByTime(10_000);
  expect(backoff.next()).toBeLessThan(700);
});
