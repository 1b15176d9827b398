import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { takeLock } from "../../scripts/start/lock.ts";
import { isAlive, started } from "../../scripts/start/process.ts";
import { objectsOf } from "../../scripts/start/workerd.ts";
import { temporaryFolder } from "../helpers/folder.ts";

const silent = () => undefined;

/** A process that does nothing, with these arguments. It speaks first: its command line shows a moment after its start. */
async function idle(...args: string[]) {
  const program = "process.on('SIGTERM',()=>{});setInterval(()=>{},1e6);console.log('up')";
  const spawned = spawn(process.execPath, ["-e", program, "--", ...args]);
  const speaks = once(spawned.stdout, "data");
  const child = await started(spawned);
  onTestFinished(() => child.kill());
  await speaks;
  return child;
}

function note(folder: string, text: string): void {
  writeFileSync(join(folder, "relay.pid"), text);
}

test("the lock notes what runs, and is gone when released", async () => {
  const folder = temporaryFolder();
  const lock = await takeLock(folder, silent);
  lock.note({ relay: 4711, port: 8787 });
  lock.note({ agent: 4712 });
  const noted = JSON.parse(readFileSync(join(folder, "relay.pid"), "utf8"));
  expect(noted).toEqual({ launcher: process.pid, relay: 4711, agent: 4712, port: 8787 });
  lock.release();
  expect(existsSync(join(folder, "relay.pid"))).toBe(false);
});

test("a folder in use is refused, with the address of the relay on it", async () => {
  const folder = temporaryFolder();
  const launcher = await idle("scripts/start.ts");
  note(folder, JSON.stringify({ launcher: launcher.pid, port: 8799 }));
  await expect(takeLock(folder, silent)).rejects.toThrow(/already runs on .* at http:\/\/localhost:8799/);
});

test("a launcher that is stopping is waited for", async () => {
  const folder = temporaryFolder();
  const launcher = await idle("scripts/start.ts");
  note(folder, JSON.stringify({ launcher: launcher.pid, port: 8799, stopping: true }));
  setTimeout(() => void launcher.kill(), 200);
  const lock = await takeLock(folder, silent);
  expect(isAlive(launcher.pid)).toBe(false);
  lock.release();
});

test("a process id that another program has by now does not keep the folder", async () => {
  const folder = temporaryFolder();
  const stranger = await idle("something-else");
  note(folder, JSON.stringify({ launcher: stranger.pid, relay: stranger.pid }));
  await takeLock(folder, silent);
  expect(isAlive(stranger.pid)).toBe(true);
});

test("what a killed launcher left running is ended, and said", async () => {
  const folder = temporaryFolder();
  const orphan = await idle(`-dobjects=${objectsOf(folder)}`);
  note(folder, JSON.stringify({ launcher: 2 ** 22 - 1, relay: orphan.pid }));
  const said: string[] = [];
  await takeLock(folder, (line) => said.push(line));
  expect(said).toEqual([expect.stringContaining(`process ${orphan.pid}`)]);
  expect(isAlive(orphan.pid)).toBe(false);
});

test.each(["", "{", '{"launcher":"x"}'])(
  "a damaged pid file (%j) is said, and left as it is",
  async (text) => {
    const folder = temporaryFolder();
    note(folder, text);
    await expect(takeLock(folder, silent)).rejects.toThrow(/relay\.pid is damaged.*make sure that none is/);
    expect(readFileSync(join(folder, "relay.pid"), "utf8")).toBe(text);
  },
);
