/** Which processes keep the processors busy: looked for only when an event is to say so. */
import { setTimeout as sleep } from "node:timers/promises";

export interface BusyProcess {
  readonly pid: number;
  /** The program's name; never its arguments, which may hold secrets. */
  readonly name: string;
  /** Of one processor. */
  readonly percentage: number;
}

const SHOWN = 3;
const NAME_CHARS = 64;
/** Between two looks, in milliseconds. */
const APART = 1000;

export async function busyProcesses(signal: AbortSignal): Promise<BusyProcess[]> {
  const { cpus } = await import("node:os");
  const { default: system } = await import("systeminformation");
  // The first look only begins to count.
  await system.processes();
  await sleep(APART, undefined, { signal });
  const { list } = await system.processes();
  return list
    .sort((one, other) => other.cpu - one.cpu)
    .slice(0, SHOWN)
    .map(({ pid, name, cpu }) => ({
      pid,
      name: name.slice(0, NAME_CHARS),
      percentage: Math.round(cpu * cpus().length),
    }));
}
