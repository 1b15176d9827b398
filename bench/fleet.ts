/**
 * `npm run bench fleet`: what idle devices cost the relay (memory, descriptors, heartbeats), and how soon thousands are
 * back after it was killed, beside objects that check nothing and a bare relay in Node. `--quick`: fewer devices. All
 * figures: bench/fleet-results.json.
 */
import { Fleet, type FleetDevice, makeDevices } from "./fleet/devices.ts";
import { type Home, node, ours, raw } from "./fleet/home.ts";
import { type Back, type Idle, measureBack, measureIdle } from "./fleet/measure.ts";
import { withProcesses } from "./interrupt.ts";
import { describeMachine } from "./machine.ts";
import type { Processes } from "./processes.ts";
import { Size } from "./size.ts";
import { spreadOf } from "./spread.ts";
import { printMachine } from "./table.ts";

const size = new Size();

/** An object sleeps ten seconds after its last message, and its database is closed then; in milliseconds. */
const ASLEEP_WITHIN = 60_000;
const plan = size.pick(
  { waves: [1000, 2000, 3000, 4000], back: 3000, restarts: 3, beats: 2, asleepWithin: ASLEEP_WITHIN },
  { waves: [200, 400], back: 400, restarts: 1, beats: 1, asleepWithin: ASLEEP_WITHIN },
  { waves: [5, 10], back: 10, restarts: 1, beats: 0.01, asleepWithin: 0 },
);
const RESULTS = new URL("./fleet-results.json", import.meta.url);
const LONGEST = 15 * 60_000;

interface Result extends Idle {
  relay: string;
  back: Back[];
}

await withProcesses(LONGEST, run);

async function run(processes: Processes): Promise<void> {
  const machine = describeMachine();
  printMachine(machine);
  const devices = makeDevices(plan.waves.at(-1) ?? 0);
  const results: Result[] = [];
  for (const start of [ours, raw, node]) {
    const home = await start(processes, devices);
    const idle = await withFleet(processes, home, devices, (fleet) => measureIdle(home, fleet, plan));
    const back = await withFleet(processes, home, devices, (fleet) => measureBack(home, fleet, plan));
    await processes.kill(home.pid);
    results.push({ relay: home.name, ...idle, ...back });
  }
  for (const result of results) print(result);
  const text = JSON.stringify(
    { date: new Date().toISOString(), quick: size.quick, machine, results },
    undefined,
    2,
  );
  size.keep(RESULTS, text);
}

async function withFleet<T>(
  processes: Processes,
  home: Home,
  devices: readonly FleetDevice[],
  measure: (fleet: Fleet) => Promise<T>,
): Promise<T> {
  const fleet = await Fleet.start(processes, home.url, devices);
  const measured = await measure(fleet);
  await processes.kill(fleet.pid);
  return measured;
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
