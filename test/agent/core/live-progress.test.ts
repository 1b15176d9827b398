import type { Progress } from "@matrx/shared/content.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { LiveProgress } from "../../../agent/core/live-progress.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function live() {
  const sent: Progress[] = [];
  return { sent, live: new LiveProgress((progress) => sent.push(progress)) };
}

it("sends the first report at once, then the newest of each interval", () => {
  const at = live();
  for (let progress = 1; progress <= 100; progress++) at.live.report({ progress });
  expect(at.sent).toEqual([{ progress: 1 }]);
  vi.advanceTimersByTime(TIMES.progressEvery);
  expect(at.sent).toEqual([{ progress: 1 }, { progress: 100 }]);
  vi.advanceTimersByTime(10 * TIMES.progressEvery);
  at.live.report({ progress: 101 });
  expect(at.sent).toHaveLength(3);
});

it("sends what is left at the end, and nothing after that", () => {
  const at = live();
  at.live.report({ progress: 1 });
  at.live.report({ progress: 2, total: 2, message: "done" });
  at.live.close();
  at.live.report({ progress: 3 });
  vi.runAllTimers();
  expect(at.sent).toEqual([{ progress: 1 }, { progress: 2, total: 2, message: "done" }]);
});

it("takes no number that JSON cannot say, and cuts long messages", () => {
  const at = live();
  at.live.report({ progress: Number.NaN });
  at.live.report({ progress: 1, total: Number.POSITIVE_INFINITY, message: "x".repeat(5000) });
  expect(at.sent).toEqual([{ progress: 1, message: "x".repeat(1000) }]);
});
