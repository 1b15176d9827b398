/** Living processes as /proc lists them (proc_pid_stat(5)). */
import { readdir, readFile } from "node:fs/promises";

export interface ProcessStat {
  /** The main thread's, of at most 15 bytes. */
  readonly name: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Processor time so far, in clock ticks. */
  readonly used: number;
  /** When it began, in clock ticks since the machine's start. */
  readonly began: number;
}

export async function allPids(): Promise<number[]> {
  return (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Undefined: it has ended, or is only waited for. */
export async function statOf(pid: number): Promise<ProcessStat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name stands in parentheses, and may itself hold spaces and parentheses.
  const end = text.lastIndexOf(")");
  const [state, ...fields] = text.slice(end + 2).split(" ");
  if (end < 0 || state === "Z" || state === "X") return undefined;
  const number = (index: number) => Number(fields[index]);
  return {
    name: text.slice(text.indexOf("(") + 1, end),
    parent: number(0),
    group: number(1),
    session: number(2),
    used: number(10) + number(11),
    began: number(18),
  };
}
