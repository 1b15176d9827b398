/** A program that waits for a pipe of somebody else's, as ripgrep may. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nothingMissed } from "../../../agent/search/engine.ts";
import { IgnoreFifos } from "../../../agent/search/ignore-fifos.ts";
import { openScope } from "../../../agent/search/scope.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { Workbench } from "../tools/workbench.ts";

test("is given up after some looks, and not if it got on meanwhile", async () => {
  const bench = await Workbench.open();
  const access = await bench.files.as(bench.context());
  const place = await access.findExisting(bench.home, "read");
  const scope = await openScope(access, place, { showHidden: false, includeIgnored: false });
  const { waitsForPipe } = access.platform.processes;
  const pipe = join(temporaryFolder(), "pipe");
  execFileSync("mkfifo", [pipe]);
  const reader = spawn("cat", [pipe], { stdio: "ignore" });
  const ended = once(reader, "exit");
  const pid = reader.pid ?? 0;
  await expect.poll(() => waitsForPipe(pid)).toBe(true);
  const fifos = new IgnoreFifos({ scope, missed: nothingMissed(), signal: new AbortController().signal });
  let looks = 1;
  while (!(await fifos.release(pid))) looks++;
  expect(looks).toBeGreaterThan(10);
  const end = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  await expect.poll(() => waitsForPipe(pid)).toBe(false);
  expect(await fifos.release(pid)).toBe(false);
  closeSync(end);
  await ended;
});
