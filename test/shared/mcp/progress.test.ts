/** Progress as a client hears it. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Progress } from "../../../shared/content.ts";
import { ProgressReporter } from "../../../shared/mcp/progress.ts";

let heard: Progress[];
let reporter: ProgressReporter;
beforeEach(() => {
  vi.useFakeTimers();
  heard = [];
  reporter = new ProgressReporter((progress) => heard.push(progress));
});
afterEach(() => {
  reporter.close();
  vi.useRealTimers();
});

it("is the last line, at once after a pause, then four times a second", () => {
  reporter.output("one\n");
  expect(heard).toEqual([{ progress: 1, message: "one" }]);
  reporter.output("two\nthr");
  reporter.output("ee\n");
  expect(heard).toHaveLength(1);
  vi.advanceTimersByTime(250);
  expect(heard[1]).toEqual({ progress: 2, message: "three" });
  vi.advanceTimersByTime(250);
  reporter.output("four\n");
  expect(heard[2]).toEqual({ progress: 3, message: "four" });
});

it("is a sign of life when nothing happens for long", () => {
  vi.advanceTimersByTime(15_000);
  expect(heard).toEqual([{ progress: 1, message: "Running for 15 s" }]);
  vi.advanceTimersByTime(31_000);
  expect(heard).toHaveLength(3);
});

it("tells whom it waits for, until that is decided", () => {
  reporter.waitsFor("Waiting for a person to allow this: rm a");
  vi.advanceTimersByTime(31_000);
  expect(heard.length).toBeGreaterThan(2);
  expect(new Set(heard.map(({ message }) => message))).toEqual(
    new Set(["Waiting for a person to allow this: rm a"]),
  );
  reporter.goesOn();
  vi.advanceTimersByTime(15_000);
  expect(heard.at(-1)?.message).toMatch(/^Running for \d+ s$/);
});

it("passes on a tool's own figures as long as they grow", () => {
  reporter.progress({ progress: 10, total: 100, message: "a tenth" });
  vi.advanceTimersByTime(250);
  reporter.progress({ progress: 5, total: 100 });
  expect(heard).toEqual([{ progress: 10, total: 100, message: "a tenth" }, { progress: 11 }]);
});

it("tells that a tool has done nothing yet, of how much", () => {
  reporter.progress({ progress: 0, total: 100 });
  vi.advanceTimersByTime(250);
  reporter.output("a line\n");
  expect(heard).toEqual([
    { progress: 0, total: 100 },
    { progress: 1, message: "a line" },
  ]);
});

it("bounds a line that never ends, and says nothing after the end", () => {
  reporter.output("x".repeat(100_000));
  expect(heard[0]?.message).toHaveLength(200);
  reporter.close();
  reporter.output("late\n");
  vi.advanceTimersByTime(60_000);
  expect(heard).toHaveLength(1);
});
