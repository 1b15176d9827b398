/** Measures the load of the processors between two samples. */
import { type CpuInfo, cpus } from "node:os";
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

export class ProcessorLoad {
  readonly #read: () => CpuInfo[];
  #last: { busy: number; total: number } | undefined;

  constructor(read: () => CpuInfo[] = cpus) {
    this.#read = read;
  }

  /** Percent of all processors since the last call; undefined: the first call, or the system does not tell. */
  since(): number | undefined {
    const last = this.#last;
    const now = timesOf(this.#read());
    this.#last = now;
    if (!last) return undefined;
    const total = now.total - last.total;
    const busy = now.busy - last.busy;
    // Removing a processor makes the sums go backwards.
    if (total <= 0 || busy < 0 || busy > total) return undefined;
    return (busy / total) * 100;
  }
}

function timesOf(processors: CpuInfo[]): { busy: number; total: number } {
  let busy = 0;
  let idle = 0;
  for (const { times } of processors) {
    busy += times.user + times.nice + times.sys + times.irq;
    idle += times.idle;
  }
  return { busy, total: busy + idle };
}
