/** How busy the processors were between two looks. */
import { type CpuInfo, cpus } from "node:os";

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
    // A processor that was taken away turns the sums back.
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
