/**
 * Processes from /proc. Besides group, session and descent, a process is known by the mark in its environment, so that
 * one that started a session of its own and lost its parent is found. What can escape: a process that does both and
 * cleans its environment, one that the user may not look into (setuid), and what another service starts on request.
 */
import { readdir, readFile, readlink } from "node:fs/promises";
import { familyOf, type ProcessRoot, type ProcessRow, type ProcessTable, signalEach } from "../processes.ts";

export const linuxProcesses: ProcessTable = {
  async beginOf(pid) {
    return (await rowOf(pid))?.began;
  },

  async members(root) {
    const rows: ProcessRow[] = [];
    for (const pid of await allPids()) {
      const row = await rowOf(pid);
      if (row) rows.push(row);
    }
    const marked = new Set<number>();
    for (const row of rows) if (await isMarked(row, root)) marked.add(row.pid);
    return familyOf(root, rows, marked);
  },

  async waitForKeys(pids) {
    for (const pid of pids) if (await waitsAtTerminal(pid)) return true;
    return false;
  },

  async waitsForPipe(pid) {
    const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
    const waits = await Promise.all(threads.map((thread) => waitOf(`${pid}/task/${thread}`)));
    return waits.includes(OPENING_PIPE) && waits.every((wait) => wait === OPENING_PIPE || IDLE.test(wait));
  },

  async signal(_root, pids, signal) {
    signalEach(signal === "SIGTERM" ? await withoutSandboxes(pids) : pids, signal);
  },
};

/** bwrap would kill all that it holds at once; it ends by itself when the command does. */
async function withoutSandboxes(pids: readonly number[]): Promise<number[]> {
  const names = await Promise.all(pids.map(async (pid) => (await statOf(pid))?.name));
  // One without a name has ended.
  return pids.filter((_, index) => ![undefined, "bwrap"].includes(names[index]));
}

async function rowOf(pid: number): Promise<ProcessRow | undefined> {
  const stat = await statOf(pid);
  return stat && { ...stat, pid, began: String(stat.began) };
}

async function isMarked(row: ProcessRow, root: ProcessRoot): Promise<boolean> {
  if (Number(row.began) < Number(root.began)) return false;
  try {
    const environment = await readFile(`/proc/${row.pid}/environ`, "latin1");
    return environment.split("\0").includes(root.mark);
  } catch {
    return false;
  }
}

/** Where the kernel waits for the other end of a pipe, and where one thread waits for another. */
const OPENING_PIPE = "wait_for_partner";
const IDLE = /^(?:futex_|(?:hrtimer|do)_nanosleep)/;

/** Where in the kernel a process or thread sleeps; empty if it does not, is gone, or the system does not tell. */
function waitOf(process: number | string): Promise<string> {
  return readFile(`/proc/${process}/wchan`, "utf8").catch(() => "");
}

/** Its standard input is a terminal, and it sleeps where the kernel waits for one. */
async function waitsAtTerminal(pid: number): Promise<boolean> {
  try {
    if (!/^\/dev\/(?:pts\/|tty)/.test(await readlink(`/proc/${pid}/fd/0`))) return false;
    return /^(?:wait_woken|n_tty_read)$/.test(await waitOf(pid));
  } catch {
    return false;
  }
}

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
