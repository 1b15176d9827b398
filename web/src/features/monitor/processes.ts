/** What runs on a machine, as its tool ListProcesses tells it. */
import { amount, list, number, record, text } from "./told.ts";

export interface Process {
  readonly pid: number;
  readonly name: string;
  readonly command: string;
  readonly user: string | undefined;
  /** Of one core. */
  readonly cpu: number;
  /** In bytes. */
  readonly memory: number;
  /** As the machine said it: with the pid, it names a process. */
  readonly started: string;
}

export interface Processes {
  readonly rows: readonly Process[];
  /** How many fit what was asked for, and how many there are. */
  readonly matching: number;
  readonly total: number;
}

/** Rows that are asked for, and shown whatever comes: more can be found by the filter. */
export const MOST_PROCESSES = 200;

export function processesOf(told: unknown): Processes {
  const { processes, matching, total } = record(told);
  const named = new Set<string>();
  const rows = list(processes, MOST_PROCESSES).flatMap((one) => {
    const fields = record(one);
    const pid = number(fields.pid);
    const started = text(fields.started);
    if (pid === undefined || started === undefined || named.has(`${pid} ${started}`)) return [];
    named.add(`${pid} ${started}`);
    return {
      ...{ pid, started },
      name: text(fields.name) ?? "",
      command: text(fields.command) ?? "",
      user: text(fields.user),
      cpu: amount(fields.cpu_percent) ?? 0,
      memory: amount(fields.memory_bytes) ?? 0,
    };
  });
  return { rows, matching: amount(matching) ?? rows.length, total: amount(total) ?? rows.length };
}
