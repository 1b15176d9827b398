/** What is measured of a fleet: what it costs while it idles, and how soon it is back. */
import { setTimeout as sleep } from "node:timers/promises";
import { TIMES } from "../../shared/limits.ts";
import { cpuNanos } from "../cpu.ts";
import { say } from "../interrupt.ts";
import type { Fleet } from "./devices.ts";
import type { Home } from "./home.ts";
import { awakeObjects, type Usage, usageOf } from "./usage.ts";

interface Wave extends Usage {
  devices: number;
}

export interface Idle {
  before: Usage;
  waves: Wave[];
  /** Of the first wave, which also grows what a process keeps for good. */
  first_kib_per_device: number;
  kib_per_device: number;
  descriptors_per_device: number;
  heartbeat_cpu_us: number;
}

/** Since the kill: until the relay listened again, and until devices were registered again. */
export interface Back {
  up_ms: number;
  ninety_percent_ms: number;
  all_ms: number;
  tries_per_device: number;
}

/** Connects more and more devices, and leaves them alone for some heartbeats. */
export async function measureIdle(
  home: Home,
  fleet: Fleet,
  { waves: wanted, beats, asleepWithin }: { waves: readonly number[]; beats: number; asleepWithin: number },
): Promise<Idle> {
  const before = usageOf(home.pid);
  const waves: Wave[] = [];
  for (const to of wanted) {
    await fleet.grow(to);
    await untilAsleep(home, asleepWithin);
    waves.push({ devices: to, ...usageOf(home.pid) });
    say(`${home.name}: ${to} devices, ${JSON.stringify(waves.at(-1))}`);
  }
  const [first, last] = [waves[0], waves.at(-1)] as [Wave, Wave];
  const more = last.devices - first.devices;
  const cpuBefore = cpuNanos(home.pid) ?? Number.NaN;
  await sleep(beats * TIMES.heartbeat);
  const cpu = (cpuNanos(home.pid) ?? Number.NaN) - cpuBefore;
  return {
    before,
    waves,
    first_kib_per_device: (first.memory_kib - before.memory_kib) / first.devices,
    kib_per_device: (last.memory_kib - first.memory_kib) / more,
    descriptors_per_device: (last.descriptors - first.descriptors) / more,
    heartbeat_cpu_us: cpu / 1000 / (beats * last.devices),
  };
}

/** Asleep, a device's object holds its socket alone; what is still open after the time is measured as it is. */
async function untilAsleep(home: Home, within: number): Promise<void> {
  const end = performance.now() + within;
  while (awakeObjects(home.pid) > 0 && performance.now() < end) await sleep(500);
}

/** Kills what the devices are connected to, and starts it again. */
export async function measureBack(
  home: Home,
  fleet: Fleet,
  { back: count, restarts }: { back: number; restarts: number },
): Promise<{ back: Back[] }> {
  const back: Back[] = [];
  await fleet.grow(count);
  for (let round = 0; round < restarts; round++) {
    const { tries } = await fleet.state();
    const killed = Date.now();
    await home.restart();
    const up = Date.now() - killed;
    const state = await fleet.until(
      ({ registeredAt }) => registeredAt.filter((at) => at >= killed).length >= count,
    );
    const times = state.registeredAt.map((at) => at - killed).sort((a, b) => a - b);
    back.push({
      up_ms: up,
      ninety_percent_ms: times[Math.ceil(count * 0.9) - 1] ?? Number.NaN,
      all_ms: times.at(-1) ?? Number.NaN,
      tries_per_device: (state.tries - tries) / count,
    });
    say(`${home.name}: back ${JSON.stringify(back.at(-1))}`);
  }
  return { back };
}
