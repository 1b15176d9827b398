/** A command can make what it leaves for us as large as its disk allows. */
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { smallFile } from "../../../agent/jobs/small-file.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

test("a file is read whole if it is small, and else not at all", async () => {
  const file = join(temporaryFolder(), "cwd");
  expect(await smallFile(file, 8)).toBeUndefined();
  writeFileSync(file, "12345678");
  expect((await smallFile(file, 8))?.toString()).toBe("12345678");
  expect(await smallFile(file, 7)).toBeUndefined();
  writeFileSync(file, "");
  expect(await smallFile(file, 8)).toHaveLength(0);
});

test("a file of many gigabytes costs no memory", async () => {
  const file = join(temporaryFolder(), "cwd");
  writeFileSync(file, "/home/ann\n");
  truncateSync(file, 64 * 1024 ** 3);
  const before = process.memoryUsage().rss;
  expect(await smallFile(file, 4096)).toBeUndefined();
  expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 ** 2);
});
