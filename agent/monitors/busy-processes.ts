/** Which processes keep the processors busy: looked for only when an event is to say so. */
import { type ProcessList, processesOf } from "../platform/process-list.ts";

export interface BusyProcess {
  readonly pid: number;
  /** The program's name; never its arguments, which may hold secrets. */
  readonly name: string;
  /** Of one processor. */
  readonly percentage: number;
}

const SHOWN = 3;
const NAME_CHARS = 64;

export async function busyProcesses(list: ProcessList, signal: AbortSignal): Promise<BusyProcess[]> {
  const processes = await processesOf(list, signal);
  return processes
    .sort((one, other) => other.cpuPercent - one.cpuPercent)
    .slice(0, SHOWN)
    .map(({ pid, name, cpuPercent }) => ({
      pid,
      name: name.slice(0, NAME_CHARS),
      percentage: Math.round(cpuPercent),
    }));
}
