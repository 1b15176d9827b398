/** Live output: shown soon, only the last of much, and honest about what is missing. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LiveOutput } from "../../../web/src/ui/output/live-output.ts";

describe("live output", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const out = (offset: number, data: string) => ({ type: "output", offset, data }) as const;
  const textOf = (live: LiveOutput) =>
    live.view.pieces.flatMap(({ segments }) => segments.map(({ text }) => text)).join("");

  test("comes together for a moment, and then is told once", () => {
    const live = new LiveOutput();
    const told = vi.fn();
    const end = live.subscribe(told);
    live.take(out(0, "a\n"));
    live.take(out(2, "é\n"));
    expect(live.isEmpty).toBe(false);
    expect(textOf(live)).toBe("");
    vi.advanceTimersByTime(100);
    expect(textOf(live)).toBe("a\né\n");
    expect(told).toHaveBeenCalledOnce();
    live.take(out(5, "b"));
    vi.advanceTimersByTime(100);
    expect(textOf(live)).toBe("a\né\nb");
    expect(live.whole).toBe("a\né\nb");
    end();
    live.take(out(6, "c"));
    live.flush();
    expect(told).toHaveBeenCalledTimes(2);
  });

  test("tells what did not get here", () => {
    const live = new LiveOutput();
    live.take(out(0, "a\n"));
    live.take(out(12, "b\n"));
    live.take({ type: "gap", frames: 2 });
    live.take(out(90, "c\n"));
    live.flush();
    expect(textOf(live)).toBe(
      "a\n\n[10 bytes of live output are missing here]\nb\n\n[2 pieces of live output are missing here]\nc\n",
    );
    expect(live.whole).toBeUndefined();
  });

  test("of much output the last is kept, whole lines at its beginning, and what is not shown is counted", () => {
    const live = new LiveOutput();
    const lines = Array.from({ length: 100_000 }, (_, at) => `line ${at}\n`).join("");
    let offset = 0;
    for (let at = 0; at < lines.length; at += 7_001) {
      const data = lines.slice(at, at + 7_001);
      live.take(out(offset, data));
      offset += data.length;
    }
    live.flush();
    const shown = textOf(live);
    expect(shown.length).toBeGreaterThanOrEqual(200_000);
    expect(shown.length).toBeLessThan(205_000);
    expect(shown.length + live.view.leftOut).toBe(lines.length);
    expect(lines.endsWith(shown)).toBe(true);
    expect(live.view.pieces.length).toBeLessThan(120);
  });

  test("one endless line is kept in bounds too, and no character is cut in two", () => {
    const live = new LiveOutput();
    live.take(out(0, `x${"😀".repeat(300_000)}`));
    live.flush();
    const shown = textOf(live);
    expect(shown.length).toBeLessThan(205_000);
    expect(shown.isWellFormed()).toBe(true);
  });
});
