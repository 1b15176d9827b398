/** All processes from /proc. */
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessFacts, ProcessList } from "./process-list.ts";

/** Between the two looks, in milliseconds. */
const APART_MS = 200;
/** Clock ticks a second: what the kernel shows to programs on every architecture. */
const TICKS = 100;

export const linuxProcessList: ProcessList = {
  // The time of the machine's start is told in whole seconds, and moves when the clock is set.
  startedWithinMs: 2000,

  async all() {
    const before = new Map<number, number>();
    for (const pid of await pids()) {
      const times = await timesOf(pid);
      if (times) before.set(pid, times.used);
    }
    const began = performance.now();
    await sleep(APART_MS);
    const context = {
      before,
      seconds: (performance.now() - began) / 1000,
      booted: await bootedAt(),
      users: await userNames(),
    };
    const found: ProcessFacts[] = [];
    for (const pid of await pids()) {
      const facts = await factsOf(pid, context);
      if (facts) found.push(facts);
    }
    return found;
  },
};

interface Context {
  readonly before: ReadonlyMap<number, number>;
  readonly seconds: number;
  readonly booted: number;
  readonly users: ReadonlyMap<string, string>;
}

/** Undefined: it has ended, or is only waited for. */
async function factsOf(pid: number, { before, seconds, booted, users }: Context) {
  const [times, status, commandLine] = await Promise.all([
    timesOf(pid),
    read(`/proc/${pid}/status`),
    read(`/proc/${pid}/cmdline`),
  ]);
  if (!times) return undefined;
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(status)?.[1] ?? "";
  const uid = field("Uid");
  const used = times.used - (before.get(pid) ?? times.used);
  // The kernel's own threads have none; a program may have written over its own.
  const command = commandLine.replace(/\0+$/, "").replaceAll("\0", " ");
  return {
    pid,
    parent: times.parent,
    name: nameOf(commandLine) ?? times.name,
    command: command || `[${times.name}]`,
    user: users.get(uid) ?? (uid || null),
    cpuPercent: Math.round((used / TICKS / seconds) * 1000) / 10,
    memoryBytes: Number(field("VmRSS") || 0) * 1024,
    started: booted + Math.round((times.started / TICKS) * 1000),
  };
}

/** The program's, as its command line begins: the kernel knows the main thread's, which Node names otherwise. */
function nameOf(commandLine: string): string | undefined {
  const program = commandLine.split("\0", 1)[0]?.split("/").at(-1) ?? "";
  // What holds a space or a colon was written over by the program itself.
  return /^[^\s:]+$/.test(program) ? program.replace(/^-/, "") : undefined;
}

interface Times {
  readonly name: string;
  readonly parent: number;
  /** Processor time, in ticks. */
  readonly used: number;
  /** Ticks since the machine's start. */
  readonly started: number;
}

async function timesOf(pid: number): Promise<Times | undefined> {
  const stat = await read(`/proc/${pid}/stat`);
  // The name stands in parentheses, and may itself hold spaces and parentheses.
  const end = stat.lastIndexOf(")");
  const fields = stat.slice(end + 2).split(" ");
  if (end < 0 || fields[0] === "Z" || fields[0] === "X") return undefined;
  const number = (index: number) => Number(fields[index]);
  return {
    name: stat.slice(stat.indexOf("(") + 1, end),
    parent: number(1),
    used: number(11) + number(12),
    started: number(19),
  };
}

async function pids(): Promise<number[]> {
  return (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
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
