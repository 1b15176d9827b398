/**
 * `npm run bench bytes`: files through our relay and agent beside scp through a reverse tunnel of OpenSSH, in turns; what
 * they cost the relay in memory, also when nobody reads; what a call costs beside them. `--quick`: fewer rounds and a
 * smaller file. Results: bench/bytes-results.json.
 */
import { randomBytes } from "node:crypto";
import { appendFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Resident } from "./bytes/resident.ts";
import { OURS, ourWays, SCP, scpWays, type Way } from "./bytes/ways.ts";
import { say, withProcesses } from "./interrupt.ts";
import { describeMachine } from "./machine.ts";
import type { Processes } from "./processes.ts";
import { shuffled } from "./rounds.ts";
import { Size } from "./size.ts";
import { ratioOf, type Spread, spreadOf } from "./spread.ts";
import { noSshServer } from "./ssh.ts";
import { printMachine, withSpread } from "./table.ts";
import { startAgent, untilConnected } from "./variants/agent.ts";
import { callLine, type OurRelay, startOurs } from "./variants/ours.ts";

const size = new Size();
const MiB = 1024 * 1024;
const FILE_MIB = size.pick(1024, 256, 16);
const ROUNDS = size.pick(7, 3, 1);
const AT_ONCE = 16;
const CALLS = size.pick(200, 200, 10);
const LONGEST = 20 * 60_000;
/** How long a reader does not read, in milliseconds. */
const STALLED = size.pick(10_000, 10_000, 100);
const RESULTS = new URL("./bytes-results.json", import.meta.url);

/** What is to be reached. */
const AIMS = {
  /** Rate beside scp, at least. */
  rate: 0.8,
  /** MiB of the relay's above idle, at most. */
  transfer: 64,
  stalled: 16,
  /** A call's time beside its idle one, at most. */
  call: 3,
} as const;

interface Scene {
  readonly processes: Processes;
  readonly relay: OurRelay;
  readonly device: string;
  readonly file: string;
  readonly memory: Resident;
  readonly call: () => Promise<void>;
}

await withProcesses(LONGEST, run);

async function run(processes: Processes): Promise<void> {
  const machine = describeMachine();
  printMachine(machine);
  const why = noSshServer();
  if (why) say(`Left out: scp. ${why}`);
  const scene = await startScene(processes);
  const ours = ourWays(processes, scene.relay, scene.device);
  const scp = why ? { down: [], up: [] } : await scpWays(processes);
  const tables = [
    { title: `A file of ${FILE_MIB} MiB from the device`, ways: [...ours.down, ...scp.down] },
    { title: `A file of ${FILE_MIB} MiB to the device`, ways: [...ours.up, ...scp.up] },
  ];
  const transfers = [];
  for (const { title, ways } of tables) transfers.push(await transfersOf(scene, title, ways));
  const [down] = ours.down;
  if (!down) throw new Error("there is no way down");
  const atOnce = await manyAtOnce(scene, down);
  const calls = await callsBeside(scene, down);
  const stalled = await stalledReader(scene);
  const found = { date: new Date().toISOString(), quick: size.quick, rounds: ROUNDS, machine };
  const text = JSON.stringify({ ...found, transfers, at_once: atOnce, calls, stalled }, undefined, 2);
  size.keep(RESULTS, text);
}

async function startScene(processes: Processes): Promise<Scene> {
  const relay = await startOurs(processes);
  const { device } = await startAgent(processes, relay, join(processes.folder, "agent"));
  const file = join(processes.folder, "large.bin");
  const piece = randomBytes(16 * MiB);
  for (let written = 0; written < FILE_MIB; written += 16) appendFileSync(file, piece);
  const small = join(processes.folder, "small.txt");
  writeFileSync(small, "hello\n");
  const line = await callLine(relay, device, { tool: "Read", input: { file_path: small } });
  const call = () => line.call();
  await untilConnected(call);
  return { processes, relay, device, file, memory: new Resident(relay.pid), call };
}

interface Transfers {
  readonly title: string;
  readonly rows: {
    way: string;
    mib_per_s: Spread;
    ratio: Spread | undefined;
    relay_mib: Spread | undefined;
  }[];
}

async function transfersOf(scene: Scene, title: string, ways: readonly Way[]): Promise<Transfers> {
  const { file, memory, processes } = scene;
  const target = join(processes.folder, "moved.bin");
  const rates = new Map<string, number[]>(ways.map(({ name }) => [name, []]));
  const peaks: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { name, move } of shuffled([...ways])) {
      const idle = memory.now;
      memory.forget();
      const began = performance.now();
      await move(file, target);
      const rate = FILE_MIB / ((performance.now() - began) / 1000);
      if (statSync(target).size !== FILE_MIB * MiB) throw new Error(`${name} moved something else`);
      rmSync(target);
      // The first round warms up.
      if (round > 0) rates.get(name)?.push(rate);
      if (round > 0 && name === OURS) peaks.push(memory.peak - idle);
    }
    say(round === 0 ? `${title}: warmed up` : `${title}: round ${round} of ${ROUNDS}`);
  }
  const base = rates.get(SCP) ?? [];
  const rows = [...rates].map(([way, values]) => ({
    ...{ way, mib_per_s: spreadOf(values), ratio: way === SCP ? undefined : ratioOf(values, base) },
    relay_mib: way === OURS ? spreadOf(peaks) : undefined,
  }));
  console.log(`\n${title}: MiB/s, ratio to ${SCP}, relay's memory above idle in MiB`);
  for (const { way, mib_per_s, ratio, relay_mib } of rows) {
    console.log(
      `  ${way.padEnd(20)} ${withSpread(mib_per_s, 0)}  ${withSpread(ratio, 2)}  ${withSpread(relay_mib, 0)}`,
    );
    if (ratio) verdict("rate beside scp", ratio.median, "at least", AIMS.rate);
    if (relay_mib) verdict("relay's memory above idle, MiB", relay_mib.max, "at most", AIMS.transfer);
  }
  return { title, rows };
}

/** So many parts of the file at once, each by a client of its own. */
async function manyAtOnce(scene: Scene, { move }: Way) {
  const { processes, memory } = scene;
  const part = join(processes.folder, "part.bin");
  const mib = FILE_MIB / AT_ONCE;
  writeFileSync(part, randomBytes(mib * MiB));
  const idle = memory.now;
  memory.forget();
  const began = performance.now();
  const targets = Array.from({ length: AT_ONCE }, (_, at) => join(processes.folder, `part-${at}.bin`));
  await Promise.all(targets.map((target) => move(part, target)));
  const rate = FILE_MIB / ((performance.now() - began) / 1000);
  const relay_mib = memory.peak - idle;
  for (const target of targets) rmSync(target);
  console.log(`\n${AT_ONCE} files of ${mib} MiB at once: ${rate.toFixed(0)} MiB/s together`);
  verdict("relay's memory above idle, MiB", relay_mib, "at most", AIMS.transfer);
  return { files: AT_ONCE, mib_per_s: rate, relay_mib };
}

/** A small call's time alone, and while a file is moved at full speed. */
async function callsBeside({ call, file, processes }: Scene, { move }: Way) {
  const alone = await timesOf(call, CALLS);
  const target = join(processes.folder, "beside.bin");
  let isMoving = true;
  const moving = move(file, target).finally(() => {
    isMoving = false;
  });
  const beside: number[] = [];
  while (isMoving) beside.push(...(await timesOf(call, 1)));
  await moving;
  rmSync(target);
  const [idle, busy] = [spreadOf(alone), spreadOf(beside)];
  console.log(`\nA call alone: ${withSpread(idle, 2)} ms; beside a transfer: ${withSpread(busy, 2)} ms`);
  verdict("a call beside a transfer, to alone", busy.median / idle.median, "at most", AIMS.call);
  return { alone_ms: idle, beside_ms: busy };
}

async function timesOf(call: () => Promise<void>, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < count; at++) {
    const began = performance.now();
    await call();
    times.push(performance.now() - began);
  }
  return times;
}

/** A reader that takes the headers, and no more. */
async function stalledReader({ relay, device, file, memory }: Scene) {
  await sleep(STALLED);
  const idle = memory.now;
  memory.forget();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { Authorization: `Bearer ${relay.token}` };
    get(`${relay.url}/v1/devices/${device}/files${file}`, { headers }, resolve).once("error", reject);
  });
  response.pause();
  await sleep(STALLED);
  const relay_mib = memory.peak - idle;
  response.destroy();
  console.log("\nA reader that does not read:");
  verdict("relay's memory above idle, MiB", relay_mib, "at most", AIMS.stalled);
  return { relay_mib };
}

function verdict(what: string, value: number, bound: "at least" | "at most", aim: number): void {
  const isReached = bound === "at least" ? value >= aim : value <= aim;
  console.log(`    ${what}: ${value.toFixed(2)}, ${bound} ${aim}: ${isReached ? "reached" : "NOT reached"}`);
}
