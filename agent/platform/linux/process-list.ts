/** All processes from /proc. */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessFacts, ProcessList } from "../process-list.ts";
import { allPids, type ProcessStat, statOf } from "./processes.ts";

/** Between the two looks, in milliseconds. */
const APART_MS = 200;
/** Clock ticks a second: what the kernel shows to programs on every architecture. */
const TICKS = 100;

export const linuxProcessList: ProcessList = {
  // The time of the machine's start is told in whole seconds, and moves when the clock is set.
  startedWithinMs: 2000,

  async all() {
    const before = new Map<number, Reading>();
    for (const pid of await allPids()) {
      const at = performance.now();
      const stat = await statOf(pid);
      if (stat) before.set(pid, { ...stat, at });
    }
    await sleep(APART_MS);
    const context = { before, booted: await bootedAt(), users: await userNames() };
    const found: ProcessFacts[] = [];
    for (const pid of await allPids()) {
      const facts = await factsOf(pid, context);
      if (facts) found.push(facts);
    }
    return found;
  },
};

/** What a process had used at a moment, as `performance.now()` has it. */
interface Reading extends Pick<ProcessStat, "used" | "began"> {
  readonly at: number;
}

/**
 * Of one processor's time, in percent: between two readings of this very process, as all of a long list are not read at
 * once. The first reading's time is taken before it, the second one's after: what is told is never too much.
 */
export function processorShare(before: Reading | undefined, now: Reading): number {
  if (before?.began !== now.began || now.at <= before.at) return 0;
  const seconds = (now.at - before.at) / 1000;
  return Math.round(((now.used - before.used) / TICKS / seconds) * 1000) / 10;
}

interface Context {
  readonly before: ReadonlyMap<number, Reading>;
  readonly booted: number;
  readonly users: ReadonlyMap<string, string>;
}

/** Undefined: it has ended, or is only waited for. */
async function factsOf(pid: number, { before, booted, users }: Context) {
  const [stat, status, commandLine] = await Promise.all([
    statOf(pid).then((found) => found && { ...found, at: performance.now() }),
    read(`/proc/${pid}/status`),
    read(`/proc/${pid}/cmdline`),
  ]);
  if (!stat) return undefined;
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(status)?.[1] ?? "";
  const uid = field("Uid");
  // The kernel's own threads have none; a program may have written over its own.
  const command = commandLine.replace(/\0+$/, "").replaceAll("\0", " ");
  return {
    pid,
    parent: stat.parent,
    name: nameOf(commandLine) ?? stat.name,
    command: command || `[${stat.name}]`,
    user: users.get(uid) ?? (uid || null),
    cpuPercent: processorShare(before.get(pid), stat),
    memoryBytes: Number(field("VmRSS") || 0) * 1024,
    started: booted + Math.round((stat.began / TICKS) * 1000),
  };
}

/** A process's name as the list has it; undefined: it has ended. */
export async function processName(pid: number): Promise<string | undefined> {
  return nameOf(await read(`/proc/${pid}/cmdline`)) ?? (await statOf(pid))?.name;
}

/** The program's, as its command line begins: the kernel knows the main thread's, which Node names otherwise. */
function nameOf(commandLine: string): string | undefined {
  const program = commandLine.split("\0", 1)[0]?.split("/").at(-1) ?? "";
  // What holds a space or a colon was written over by the program itself.
  return /^[^\s:]+$/.test(program) ? program.replace(/^-/, "") : undefined;
}

/** Milliseconds since 1970. */
async function bootedAt(): Promise<number> {
  return Number(/^btime (\d+)/m.exec(await read("/proc/stat"))?.[1] ?? 0) * 1000;
}

/** Names of the machine's own users by number; others, such as of a directory service, are shown by number. */
async function userNames(): Promise<Map<string, string>> {
  const lines = (await read("/etc/passwd")).split("\n").map((line) => line.split(":"));
  return new Map(lines.map(([name = "", , uid = ""]) => [uid, name]));
}

/** Empty: it is gone, or closed to the agent's user. */
async function read(file: string): Promise<string> {
  return await readFile(file, "utf8").catch(() => "");
}
