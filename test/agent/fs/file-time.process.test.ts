/** Times of files that no text or Date can say. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fileTime, secondsOfDate } from "../../../agent/fs/file-time.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { Workbench } from "../tools/workbench.ts";

test.each([
  [0n, "1970-01-01T00:00:00.000Z"],
  [253_402_300_800_000n, "9999-12-31T23:59:59.999Z"],
  [10n ** 20n, "9999-12-31T23:59:59.999Z"],
  [-(10n ** 20n), "0000-01-01T00:00:00.000Z"],
])("%d milliseconds are %s", (ms, text) => {
  expect(fileTime(ms).toISOString()).toBe(text);
});

test("a time that is set has the millisecond that was meant, whatever that is", () => {
  const path = join(temporaryFolder(), "f");
  writeFileSync(path, "");
  for (let ms = 1_700_000_000_000; ms < 1_700_000_002_000; ms++) {
    const seconds = secondsOfDate(new Date(ms));
    utimesSync(path, seconds, seconds);
    const { mtimeNs } = statSync(path, { bigint: true });
    expect([ms, mtimeNs / 1_000_000n, mtimeNs % 1_000_000n < 500n]).toEqual([ms, BigInt(ms), true]);
  }
  for (const ms of [0, 1, -1500, Date.UTC(1969, 0), Date.UTC(2500, 0)])
    expect(Math.round(secondsOfDate(new Date(ms)) * 1000)).toBe(ms);
});

// Of the usual file systems, tmpfs keeps such times.
test.runIf(existsSync("/dev/shm"))(
  "a file with such a time is listed, found and sent as any other",
  async () => {
    const folder = mkdtempSync("/dev/shm/matrx-test-");
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "far.txt");
    writeFileSync(path, "far");
    execFileSync("touch", ["-d", "@99999999999999", path]);
    const bench = await Workbench.open();
    const time = "9999-12-31T23:59:59.999Z";
    const calls: [tool: string, input: Record<string, unknown>][] = [
      ["ListDirectory", { path: folder }],
      ["Glob", { path: folder, pattern: "*" }],
      ["search_files", { path: folder, query: "far" }],
      ["FileInfo", { path }],
      ["Download", { path }],
    ];
    for (const [tool, input] of calls) {
      const { metadata } = await bench.call(tool, input, { opensStream: true });
      expect(JSON.stringify(metadata), tool).toContain(time);
    }
  },
);
