/** All processes from /proc. */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessFacts, ProcessList } from "./process-list.ts";
import { allPids, statOf } from "./stat-linux.ts";

/** Between the two looks, in milliseconds. */
const APART_MS = 200;
/** Clock ticks a second: what the kernel shows to programs on every architecture. */
const TICKS = 100;

export const linuxProcessList: ProcessList = {
  // The time of the machine's start is told in whole seconds, and moves when the clock is set.
  startedWithinMs: 2000,

  async all() {
    const before = new Map<number, number>();
    for (const pid of await allPids()) {
      const stat = await statOf(pid);
      if (stat) before.set(pid, stat.used);
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
    for (const pid of await allPids()) {
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
  const [stat, status, commandLine] = await Promise.all([
    statOf(pid),
    read(`/proc/${pid}/status`),
    read(`/proc/${pid}/cmdline`),
  ]);
  if (!stat) return undefined;
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(status)?.[1] ?? "";
  const uid = field("Uid");
  const used = stat.used - (before.get(pid) ?? stat.used);
  // The kernel's own threads have none; a program may have written over its own.
  const command = commandLine.replace(/\0+$/, "").replaceAll("\0", " ");
  return {
    pid,
    parent: stat.parent,
    name: nameOf(commandLine) ?? stat.name,
    command: command || `[${stat.name}]`,
    user: users.get(uid) ?? (uid || null),
    cpuPercent: Math.round((used / TICKS / seconds) * 1000) / 10,
    memoryBytes: Number(field("VmRSS") || 0) * 1024,
    started: booted + Math.round((stat.began / TICKS) * 1000),
  };
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
