/**
 * `npm run bench:fleet`: what idle devices cost the relay (memory, descriptors, heartbeats), and how soon thousands are
 * back after it was killed, beside objects that check nothing and a bare relay in
 * Node. `--quick`: fewer devices. All figures: bench/fleet-results.json.
 */
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { TIMES } from "../shared/limits.ts";
import { cpuNanos } from "./cpu.ts";
import { Fleet, type FleetDevice, makeDevices } from "./fleet/devices.ts";
import { type Home, node, ours, raw } from "./fleet/home.ts";
import { awakeObjects, type Usage, usageOf } from "./fleet/usage.ts";
import { watchForEnd } from "./interrupt.ts";
import { describeMachine } from "./machine.ts";
import { Processes } from "./processes.ts";
import { spreadOf } from "./spread.ts";
import { printMachine } from "./table.ts";

const { values: options } = parseArgs({ options: { quick: { type: "boolean", default: false } } });

const plan = options.quick
  ? { waves: [200, 400], back: 400, restarts: 1, beats: 1 }
  : { waves: [1000, 2000, 3000, 4000], back: 3000, restarts: 3, beats: 2 };
const RESULTS = new URL("./fleet-results.json", import.meta.url);
/** An object sleeps ten seconds after its last message, and its database is closed then. */
const ASLEEP_WITHIN = 60_000;
const LONGEST = 15 * 60_000;

interface Wave extends Usage {
  devices: number;
}

interface Idle {
  before: Usage;
  waves: Wave[];
  /** Of the first wave, which also grows what a process keeps for good. */
  first_kib_per_device: number;
  kib_per_device: number;
  descriptors_per_device: number;
  heartbeat_cpu_us: number;
}

/** Since the kill: until the relay listened again, and until devices were registered again. */
interface Back {
  up_ms: number;
  ninety_percent_ms: number;
  all_ms: number;
  tries_per_device: number;
}

interface Result extends Idle {
  relay: string;
  back: Back[];
}

const processes = new Processes();
const callOffWatch = watchForEnd(processes, LONGEST);
try {
  await run();
} catch (error) {
  if (!processes.isStopping) throw error;
} finally {
  await processes.stop();
  callOffWatch();
}

async function run(): Promise<void> {
  const machine = describeMachine();
  printMachine(machine);
  const devices = makeDevices(plan.waves.at(-1) ?? 0);
  const results: Result[] = [];
  for (const start of [ours, raw, node]) {
    const home = await start(processes, devices);
    const idle = await withFleet(home, devices, (fleet) => measureIdle(home, fleet));
    const back = await withFleet(home, devices, (fleet) => measureBack(home, fleet));
    await processes.kill(home.pid);
    results.push({ relay: home.name, ...idle, ...back });
  }
  for (const result of results) print(result);
  const text = JSON.stringify(
    { date: new Date().toISOString(), quick: options.quick, machine, results },
    undefined,
    2,
  );
  writeFileSync(RESULTS, `${text}\n`);
}

async function withFleet<T>(
  home: Home,
  devices: readonly FleetDevice[],
  measure: (fleet: Fleet) => Promise<T>,
): Promise<T> {
  const fleet = await Fleet.start(processes, home.url, devices);
  const measured = await measure(fleet);
  await processes.kill(fleet.pid);
  return measured;
}

async function measureIdle(home: Home, fleet: Fleet): Promise<Idle> {
  const before = usageOf(home.pid);
  const waves: Wave[] = [];
  for (const to of plan.waves) {
    await fleet.grow(to);
    await untilAsleep(home);
    waves.push({ devices: to, ...usageOf(home.pid) });
    say(`${home.name}: ${to} devices, ${JSON.stringify(waves.at(-1))}`);
  }
  const [first, last] = [waves[0], waves.at(-1)] as [Wave, Wave];
  const more = last.devices - first.devices;
  const cpuBefore = cpuNanos(home.pid) ?? Number.NaN;
  await sleep(plan.beats * TIMES.heartbeat);
  const cpu = (cpuNanos(home.pid) ?? Number.NaN) - cpuBefore;
  return {
    before,
    waves,
    first_kib_per_device: (first.memory_kib - before.memory_kib) / first.devices,
    kib_per_device: (last.memory_kib - first.memory_kib) / more,
    descriptors_per_device: (last.descriptors - first.descriptors) / more,
    heartbeat_cpu_us: cpu / 1000 / (plan.beats * last.devices),
  };
}

/** Asleep, a device's object holds its socket alone; what is still open after the time is measured as it is. */
async function untilAsleep(home: Home): Promise<void> {
  const end = performance.now() + ASLEEP_WITHIN;
  while (awakeObjects(home.pid) > 0 && performance.now() < end) await sleep(500);
}

async function measureBack(home: Home, fleet: Fleet): Promise<{ back: Back[] }> {
  const back: Back[] = [];
  await fleet.grow(plan.back);
  for (let round = 0; round < plan.restarts; round++) {
    const { tries } = await fleet.state();
    const killed = Date.now();
    await home.restart();
    const up = Date.now() - killed;
    const state = await fleet.until(
      ({ registeredAt }) => registeredAt.filter((at) => at >= killed).length >= plan.back,
    );
    const times = state.registeredAt.map((at) => at - killed).sort((a, b) => a - b);
    back.push({
      up_ms: up,
      ninety_percent_ms: times[Math.ceil(plan.back * 0.9) - 1] ?? Number.NaN,
      all_ms: times.at(-1) ?? Number.NaN,
      tries_per_device: (state.tries - tries) / plan.back,
    });
    say(`${home.name}: back ${JSON.stringify(back.at(-1))}`);
  }
  return { back };
}

function print({
  relay,
  kib_per_device,
  first_kib_per_device,
  descriptors_per_device,
  heartbeat_cpu_us,
  back,
}: Result): void {
  const seconds = (pick: (one: Back) => number) => {
    const { median, min, max } = spreadOf(back.map((one) => pick(one) / 1000));
    return `${median.toFixed(1)} s [${min.toFixed(1)}..${max.toFixed(1)}]`;
  };
  console.log(`
${relay}
  an idle device: ${kib_per_device.toFixed(0)} KiB (of the first ${plan.waves[0]}: ${first_kib_per_device.toFixed(0)} KiB), ${descriptors_per_device.toFixed(2)} descriptors
  a heartbeat: ${heartbeat_cpu_us.toFixed(0)} us of CPU
  ${plan.back} devices after a restart: 90% back in ${seconds((one) => one.ninety_percent_ms)}, all in ${seconds((one) => one.all_ms)}`);
}

function say(line: string): void {
  console.log(`[${(performance.now() / 1000).toFixed(1).padStart(5)} s] ${line}`);
}
