/** What `matrx cp` sends twice when it, or an agent, is killed in the middle; and copies between two machines. */
import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { MATRX_BIN } from "../../scripts/matrx-bin.ts";
import { ensurePaired } from "../../scripts/start/pairing.ts";
import { endOf, runMatrx, startMatrx } from "../agent/cli/matrx.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { type Agent, startAgent } from "./agent.ts";
import { callerArgs } from "./forwarding.ts";
import { type Rig, startRig } from "./rig.ts";

const MiB = 1024 * 1024;
const MINUTE = { timeout: 60_000 };
const content = randomBytes(48 * MiB);
const sha256 = createHash("sha256").update(content).digest("hex");
/** What frames, calls and heartbeats take beside the file's bytes. */
const BESIDES = 256 * 1024;

let rig: Rig;
let other: { readonly dataDir: string; readonly device: string; readonly agent: Agent };
let here: string;
let there: string;

beforeAll(async () => {
  rig = await startRig();
  const dataDir = makeFolder();
  const relay = { ...rig.relay, url: `http://localhost:${rig.line.port}`, dataDir };
  const { device_id: device } = await ensurePaired(relay, rig.token, new AbortController().signal, () => {});
  other = { dataDir, device, agent: await startAgent(dataDir) };
  await other.agent.registered();
});
afterAll(async () => {
  await other?.agent.child.stop(5000);
  await rig?.stop();
  if (other) removeFolder(other.dataDir);
});
beforeEach(() => {
  [here, there] = [makeFolder(), makeFolder()];
  return () => [here, there].forEach(removeFolder);
});

const onDevice = (path: string) => `${rig.device}:${path}`;

/** A command line of one home, on the same line as the agents: what it began, it continues. */
function commandLine() {
  const { home, args } = callerArgs(rig, rig.token, `http://localhost:${rig.line.port}`);
  const words = (from: string, to: string) => ["cp", from, to, "--json", ...args];
  return {
    start: (from: string, to: string) => startMatrx(words(from, to), { home }),
    /** Until it is done: a device may still be writing what had arrived. */
    async finish(from: string, to: string): Promise<{ resumed?: number }> {
      for (let attempt = 0; attempt < 20; attempt++) {
        const { code, stdout } = await runMatrx(words(from, to), { home });
        if (code === 0) return JSON.parse(stdout.split("\n")[0] ?? "") as { resumed?: number };
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
      throw new Error("it did not end");
    },
  };
}

/** Resolves when so much of the only file in a folder has arrived under another name. */
async function arrived(folder: string, bytes: number): Promise<void> {
  const sizes = () => readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  await expect.poll(() => Math.max(0, ...sizes()), { interval: 1, timeout: 20_000 }).toBeGreaterThan(bytes);
  expect(existsSync(join(folder, "a.bin"))).toBe(false);
}

function expectWhole(folder: string): void {
  expect(readdirSync(folder)).toEqual(["a.bin"]);
  expect(
    createHash("sha256")
      .update(readFileSync(join(folder, "a.bin")))
      .digest("hex"),
  ).toBe(sha256);
}

/** Counts from now on; then each byte must have passed `times` in each direction, and at most 1 MiB of them once more. */
function counting(times: number): () => void {
  const passed = () => [rig.line.passed("up"), rig.line.passed("down")];
  const before = passed();
  return () => {
    for (const [at, bytes] of passed().entries()) {
      const again = bytes - (before[at] ?? 0) - times * content.length;
      expect(again).toBeGreaterThanOrEqual(0);
      expect(again).toBeLessThan(times * MiB + BESIDES);
    }
  };
}

test("a download that is killed sends at most 1 MiB again", MINUTE, async () => {
  writeFileSync(join(there, "a.bin"), content);
  const { start, finish } = commandLine();
  const expectSentOnce = counting(1);
  const child = start(onDevice(join(there, "a.bin")), here);
  await arrived(here, 8 * MiB);
  child.kill("SIGKILL");
  await endOf(child);
  expect((await finish(onDevice(join(there, "a.bin")), here)).resumed).toBeGreaterThan(8 * MiB);
  expectWhole(here);
  expectSentOnce();
});

test("an upload whose device's agent is killed sends at most 1 MiB again", MINUTE, async () => {
  writeFileSync(join(here, "a.bin"), content);
  const { start, finish } = commandLine();
  const expectSentOnce = counting(1);
  const child = start(join(here, "a.bin"), onDevice(there));
  const ended = endOf(child);
  await arrived(there, 8 * MiB);
  await rig.agent.child.kill();
  expect((await ended).code).toBe(69);
  rig.agent = await startAgent(rig.dataDir);
  await rig.agent.registered();
  expect((await finish(join(here, "a.bin"), onDevice(there))).resumed).toBeGreaterThan(8 * MiB);
  expectWhole(there);
  expectSentOnce();
});

test("in a terminal a bar, the rate and the time left are shown", MINUTE, async () => {
  const { home, args } = callerArgs(rig);
  const large = join(there, "large.bin");
  writeFileSync(large, "");
  truncateSync(large, 512 * MiB);
  const pty = spawn(process.execPath, [MATRX_BIN, "cp", onDevice(large), here, ...args], {
    ...{ name: "xterm", cols: 100, rows: 10, cwd: here },
    env: { ...process.env, MATRX_HOME: home, MATRX_PROTECTED: home },
  });
  let shown = "";
  pty.onData((text) => {
    shown += text;
  });
  const ended = new Promise<number>((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)));
  const line = /large\.bin {2}\[#*\.*\] +\d+% of 512\.0 MiB, \d+\.\d MiB\/s, \d+:\d\d left/;
  await expect.poll(() => shown, { timeout: 30_000 }).toMatch(line);
  pty.kill("SIGINT");
  expect(await ended).toBe(130);
});

test("a copy between two machines that is killed goes on, and nothing of it stays here", MINUTE, async () => {
  const inbox = join(there, "inbox");
  mkdirSync(inbox);
  writeFileSync(join(there, "a.bin"), content);
  const { start, finish } = commandLine();
  const expectSentOnce = counting(2);
  const [from, to] = [onDevice(join(there, "a.bin")), `${other.device}:${inbox}`];
  const child = start(from, to);
  await arrived(inbox, 8 * MiB);
  child.kill("SIGKILL");
  await endOf(child);
  expect((await finish(from, to)).resumed).toBeGreaterThan(8 * MiB);
  expectWhole(inbox);
  expectSentOnce();
  expect(readdirSync(here)).toEqual([]);
});
