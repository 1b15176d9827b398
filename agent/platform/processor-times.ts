/** Times of the processors as Node has them, where the system's own cost more. */
import type { CpuInfo } from "node:os";
import type { ProcessorTime } from "./meter.ts";

export function processorTimes(processors: readonly CpuInfo[]): ProcessorTime[] {
  return processors.map(({ times: { user, nice, sys, irq, idle } }) => {
    const busy = user + nice + sys + irq;
    return { busy, total: busy + idle };
  });
}
