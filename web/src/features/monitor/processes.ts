/** What runs on a machine, as its tool ListProcesses tells it. */
import { list, number, record, text } from "./told.ts";

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

export function processesOf(told: unknown): Processes {
  const { processes, matching, total } = record(told);
  const rows = list(processes).flatMap((one) => {
    const fields = record(one);
    const pid = number(fields.pid);
    const started = text(fields.started);
    if (pid === undefined || started === undefined) return [];
    return {
      ...{ pid, started },
      name: text(fields.name) ?? "",
      command: text(fields.command) ?? "",
      user: text(fields.user),
      cpu: number(fields.cpu_percent) ?? 0,
      memory: number(fields.memory_bytes) ?? 0,
    };
  });
  return { rows, matching: number(matching) ?? rows.length, total: number(total) ?? rows.length };
}
