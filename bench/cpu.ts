/** CPU time of a process, from the scheduler's own nanosecond counters; the ticks of /proc/<pid>/stat are too coarse. */
import { readdirSync, readFileSync } from "node:fs";

/** Nanoseconds that all threads of a process have run, or undefined where the system does not tell (not Linux). */
export function cpuNanos(pid: number): number | undefined {
  const tasks = `/proc/${pid}/task`;
  let total = 0;
  try {
    for (const task of readdirSync(tasks)) total += threadNanos(`${tasks}/${task}/schedstat`);
  } catch {
    return undefined;
  }
  return total;
}

/** A thread may end between listing and reading; what it had run is then lost, a few microseconds. */
function threadNanos(path: string): number {
  try {
    return Number.parseInt(readFileSync(path, "utf8"), 10);
  } catch {
    return 0;
  }
}
