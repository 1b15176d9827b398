import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { MATRX_BIN } from "../../scripts/matrx-bin.ts";
import { agentFolder } from "../../scripts/start/agent.ts";
import { takeLock } from "../../scripts/start/lock.ts";
import { isAlive, started } from "../../scripts/start/process.ts";
import { byPs, processTable } from "../../scripts/start/process-table.ts";
import { objectsOf } from "../../scripts/start/workerd.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { needs } from "../helpers/parts.ts";

const silent = () => undefined;

/** A process that does nothing, with these arguments. It speaks first: its command line shows a moment after its start. */
async function idle(args: string | string[], env: NodeJS.ProcessEnv = {}, onTerm = "process.exit()") {
  const program = `process.on('SIGTERM',()=>{${onTerm}});setInterval(()=>{},1e6);console.log('up')`;
  const spawned = spawn(process.execPath, ["-e", program, "--", ...[args].flat()], {
    env: { ...process.env, ...env },
  });
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
  const began = process.platform === "win32" ? {} : { began: expect.any(String) };
  expect(noted).toEqual({ launcher: process.pid, ...began, relay: 4711, agent: 4712, port: 8787 });
  lock.release();
  expect(existsSync(join(folder, "relay.pid"))).toBe(false);
});

test("a folder in use is refused, with the address of the relay on it", async () => {
  const folder = temporaryFolder();
  const launcher = await idle("scripts/start.ts");
  note(folder, JSON.stringify({ launcher: launcher.pid, port: 8799 }));
  await expect(takeLock(folder, silent)).rejects.toThrow(/already running on .* at http:\/\/localhost:8799/);
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

test("what cannot be noted is said once, and ends nothing", async () => {
  const folder = temporaryFolder();
  const said: string[] = [];
  const lock = await takeLock(folder, (line) => said.push(line));
  rmSync(join(folder, "relay.pid"));
  mkdirSync(join(folder, "relay.pid/in-the-way"), { recursive: true });
  lock.note({ relay: 4711 });
  lock.note({ agent: 4712 });
  expect(said).toEqual([
    expect.stringMatching(/relay\.pid cannot be written .*something else is in its place/),
  ]);
  expect(readdirSync(folder)).toEqual(["relay.pid"]);
  rmSync(join(folder, "relay.pid"), { recursive: true });
  lock.note({ port: 8787 });
  expect(JSON.parse(readFileSync(join(folder, "relay.pid"), "utf8"))).toMatchObject({
    ...{ relay: 4711, agent: 4712, port: 8787 },
  });
});

test("a process id that another program has by now does not keep the folder, not even one of the same kind", async () => {
  const folder = temporaryFolder();
  const stranger = await idle("something-else");
  note(folder, JSON.stringify({ launcher: stranger.pid, relay: stranger.pid }));
  (await takeLock(folder, silent)).release();
  expect(isAlive(stranger.pid)).toBe(true);
  const other = await idle("scripts/start.ts");
  note(folder, JSON.stringify({ launcher: other.pid, began: "1" }));
  (await takeLock(folder, silent)).release();
  expect(isAlive(other.pid)).toBe(true);
  // In a container each start may have the same number.
  note(folder, JSON.stringify({ launcher: process.pid }));
  (await takeLock(folder, silent)).release();
});

test("a launcher that still runs keeps the folder, known by when it began", async () => {
  const folder = temporaryFolder();
  const launcher = await idle("anything");
  const began = processTable.beganAt(launcher.pid);
  note(folder, JSON.stringify({ launcher: launcher.pid, began }));
  await expect(takeLock(folder, silent)).rejects.toThrow(/already running on/);
});

describe("what a killed launcher left running", () => {
  const GONE = JSON.stringify({ launcher: 2 ** 22 - 1 });

  test("is ended, and said, though its number was never noted", async () => {
    const folder = temporaryFolder();
    const relay = await idle([`-dobjects=${objectsOf(folder)}`]);
    const agent = await idle([MATRX_BIN, "up"], { MATRX_HOME: agentFolder(folder) });
    note(folder, GONE);
    const said: string[] = [];
    const lock = await takeLock(folder, (line) => said.push(line));
    expect(said).toEqual([
      expect.stringContaining(`agent left over from an earlier start (process ${agent.pid})`),
      expect.stringContaining(`relay left over from an earlier start (process ${relay.pid})`),
    ]);
    expect([relay.pid, agent.pid].filter(isAlive)).toEqual([]);
    lock.release();
  });

  test("is ended though it knows the folder by another path", async () => {
    const folder = temporaryFolder();
    mkdirSync(objectsOf(folder));
    const link = join(temporaryFolder(), "link");
    symlinkSync(folder, link);
    const relay = await idle([`-dobjects=${objectsOf(link)}`, "-dweb=/web"]);
    note(folder, GONE);
    (await takeLock(folder, silent)).release();
    expect(isAlive(relay.pid)).toBe(false);
  });

  test("is ended on this folder alone", async () => {
    const folder = temporaryFolder();
    const elsewhere = `${folder}-other`;
    const others = [
      await idle([`-dobjects=${objectsOf(elsewhere)}`]),
      await idle([MATRX_BIN, "up"], { MATRX_HOME: agentFolder(elsewhere) }),
      await idle([MATRX_BIN, "call"], { MATRX_HOME: agentFolder(folder) }),
    ];
    note(folder, GONE);
    (await takeLock(folder, silent)).release();
    expect(others.map(({ pid }) => isAlive(pid))).toEqual([true, true, true]);
  });

  test("is ended by one of two starts at once; the other is refused", async () => {
    const folder = temporaryFolder();
    const slow = "setTimeout(()=>process.exit(),500)";
    await idle([MATRX_BIN, "up"], { MATRX_HOME: agentFolder(folder) }, slow);
    note(folder, GONE);
    const taking = [takeLock(folder, silent), sleep(200).then(() => takeLock(folder, silent))];
    const taken = await Promise.allSettled(taking);
    expect(taken.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(readdirSync(folder)).toEqual(["relay.pid"]);
  });

  test("gets the time to end by itself that its commands need", async () => {
    const folder = temporaryFolder();
    const done = join(folder, "done");
    const end = `setTimeout(()=>{require("fs").writeFileSync(${JSON.stringify(done)},"");process.exit()},3000)`;
    await idle([MATRX_BIN, "up"], { MATRX_HOME: agentFolder(folder) }, end);
    note(folder, GONE);
    (await takeLock(folder, silent)).release();
    expect(existsSync(done)).toBe(true);
  });
});

test(
  "the process table by ps tells the same as /proc",
  needs(process.platform === "linux", "this is no Linux"),
  async () => {
    const child = await idle(["a mark", "up"]);
    expect(byPs.commandOf(child.pid)).toBe(processTable.commandOf(child.pid));
    expect(byPs.all()).toContainEqual({ pid: child.pid, command: processTable.commandOf(child.pid) });
    expect(byPs.beganAt(child.pid)).toMatch(/^\w{3} \w{3} +\d+ [\d:]{8} \d{4}$/);
    expect(processTable.beganAt(child.pid)).toMatch(/^\d+$/);
    expect(processTable.variableOf(child.pid, "PATH")).toBe(process.env.PATH);
    expect([byPs, processTable].map((table) => table.beganAt(2 ** 22 - 1))).toEqual([undefined, undefined]);
  },
);

test.each(["", "{", '{"launcher":"x"}'])(
  "a damaged pid file (%j) is said, and left as it is",
  async (text) => {
    const folder = temporaryFolder();
    note(folder, text);
    await expect(takeLock(folder, silent)).rejects.toThrow(/relay\.pid is damaged.*make sure that none is/);
    expect(readFileSync(join(folder, "relay.pid"), "utf8")).toBe(text);
  },
);
