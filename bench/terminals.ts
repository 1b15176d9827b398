/**
 * `npm run bench terminals`: a shell through our relay and the real agent beside ssh through a reverse tunnel of OpenSSH and
 * beside no network at all, in turns: from a key to its echo, and a flood of output. `--quick`: fewer rounds. Results:
 * bench/terminals-results.json.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { homeOf } from "../agent/config/app-dirs.ts";
import { HolderLink } from "../agent/terminals/holder-link.ts";
import { holderEndpoint } from "../agent/terminals/start-holder.ts";
import { MATRX_BIN } from "../scripts/matrx-bin.ts";
import { say, withProcesses } from "./interrupt.ts";
import { describeMachine } from "./machine.ts";
import type { Processes } from "./processes.ts";
import { shuffled } from "./rounds.ts";
import { Size } from "./size.ts";
import { ratioOf, type Spread, spreadOf } from "./spread.ts";
import { noSshTerminals, sshArguments, startReverseTunnel, startSshServer } from "./ssh.ts";
import { printMachine, withSpread } from "./table.ts";
import { Seat } from "./terminals/seat.ts";
import { startAgent, untilConnected } from "./variants/agent.ts";
import { callLine, startOurs } from "./variants/ours.ts";

const size = new Size();
const ROUNDS = size.pick(7, 3, 1);
const KEYS = size.pick(300, 100, 5);
const OUTPUT_MIB = size.pick(32, 32, 1);
const LONGEST = 15 * 60_000;
const RESULTS = new URL("./terminals-results.json", import.meta.url);

/** What an echo's p99 may take longer than without a network, in milliseconds. */
const ECHO_AIM = 5;

interface Way {
  readonly name: string;
  take(): Promise<Seat>;
}

const OURS = "matrx shell";
const SSH = "ssh through ssh -R";
const LOCAL = "no network";

interface Measured {
  readonly p50_ms: number[];
  readonly p99_ms: number[];
  readonly mib_per_s: number[];
}

await withProcesses(LONGEST, run);

async function run(processes: Processes): Promise<void> {
  const machine = describeMachine();
  printMachine(machine);
  const why = noSshTerminals();
  if (why) say(`Left out: ssh. ${why}`);
  const local: Way = { name: LOCAL, take: () => Seat.take("bash", ["--norc"], process.env) };
  const ways = [await ourWay(processes), ...(why ? [] : [await sshWay(processes)]), local];
  const measured = new Map<string, Measured>(
    ways.map(({ name }) => [name, { p50_ms: [], p99_ms: [], mib_per_s: [] }]),
  );
  for (let round = size.pick(0, 0, 1); round <= ROUNDS; round++) {
    for (const way of shuffled([...ways])) {
      await using seat = await way.take();
      const echoes = (await seat.echoes(KEYS)).toSorted((one, other) => one - other);
      const rate = await seat.output(OUTPUT_MIB);
      // The first round warms up.
      if (round === 0) continue;
      const into = measured.get(way.name);
      into?.p50_ms.push(echoes[Math.floor(KEYS / 2)] ?? Number.NaN);
      into?.p99_ms.push(echoes[Math.ceil(KEYS * 0.99) - 1] ?? Number.NaN);
      into?.mib_per_s.push(rate);
    }
    say(round === 0 ? "warmed up" : `round ${round} of ${ROUNDS}`);
  }
  const rows = rowsOf(measured);
  print(rows);
  const found = { date: new Date().toISOString(), quick: size.quick, rounds: ROUNDS, keys: KEYS, machine };
  size.keep(RESULTS, JSON.stringify({ ...found, output_mib: OUTPUT_MIB, rows }, undefined, 2));
}

async function ourWay(processes: Processes): Promise<Way> {
  const relay = await startOurs(processes);
  const folder = join(processes.folder, "agent");
  const { device } = await startAgent(processes, relay, folder);
  const call = await callLine(relay, device, { tool: "SystemInfo", input: {} });
  await untilConnected(() => call.call());
  const holder = holderEndpoint(homeOf({ MATRX_HOME: folder }).terminals);
  // It outlives the agent, as it should.
  processes.atEnd(async () => {
    const link = await HolderLink.open(holder);
    if (link) process.kill(link.welcome.pid);
  });
  const home = join(processes.folder, "caller");
  const tokenFile = join(processes.folder, "token");
  writeFileSync(tokenFile, relay.token, { mode: 0o600 });
  const args = [MATRX_BIN, "shell", device, "--relay", relay.url, "--token-file", tokenFile];
  const env = { ...process.env, MATRX_HOME: home, MATRX_PROTECTED: home };
  return { name: OURS, take: () => Seat.take(process.execPath, args, env) };
}

/** The device's server, behind the tunnel that the device's side dialled. */
async function sshWay(processes: Processes): Promise<Way> {
  const device = await startSshServer(processes, "ssh-device");
  const relay = await startSshServer(processes, "ssh-relay");
  const port = await startReverseTunnel(processes, relay, device.port);
  return { name: SSH, take: () => Seat.take("ssh", ["-tt", ...sshArguments(device, port)], process.env) };
}

interface Row {
  readonly way: string;
  readonly p50_ms: Spread;
  readonly p99_ms: Spread;
  /** The p99 above that without a network in the same round. */
  readonly added_ms: Spread;
  readonly mib_per_s: Spread;
  /** To ssh's. */
  readonly ratio: Spread | undefined;
}

function rowsOf(measured: ReadonlyMap<string, Measured>): Row[] {
  const local = measured.get(LOCAL)?.p99_ms ?? [];
  const ssh = measured.get(SSH)?.mib_per_s ?? [];
  return [...measured].map(([way, { p50_ms, p99_ms, mib_per_s }]) => ({
    ...{ way, p50_ms: spreadOf(p50_ms), p99_ms: spreadOf(p99_ms) },
    added_ms: spreadOf(p99_ms.map((value, round) => value - (local[round] ?? Number.NaN))),
    ...{ mib_per_s: spreadOf(mib_per_s), ratio: ratioOf(mib_per_s, ssh) },
  }));
}

function print(rows: readonly Row[]): void {
  console.log("\nKey to echo p50 and p99 in ms, p99 above no network; output in MiB/s, its ratio to ssh");
  for (const { way, p50_ms, p99_ms, added_ms, mib_per_s, ratio } of rows) {
    const cells = [withSpread(p50_ms, 2), withSpread(p99_ms, 2), withSpread(added_ms, 2)];
    console.log(
      `  ${way.padEnd(20)} ${[...cells, withSpread(mib_per_s, 0), withSpread(ratio, 2)].join("  ")}`,
    );
  }
  const added = rows.find(({ way }) => way === OURS)?.added_ms.median ?? Number.NaN;
  const verdict = added <= ECHO_AIM ? "reached" : "NOT reached";
  console.log(`  an echo's p99 above no network: ${added.toFixed(2)} ms, at most ${ECHO_AIM}: ${verdict}`);
}
