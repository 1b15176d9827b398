/** All processes from `ps`. Never run on macOS: no machine was at hand; Linux's `ps` prints the same columns. */
import type { ProcessFacts, ProcessList } from "../process-list.ts";
import { runProgram } from "../run-program.ts";

export const darwinProcessList: ProcessList = {
  startedWithinMs: 1000,

  async all() {
    const columns = "pid=,ppid=,stat=,user=,pcpu=,rss=,lstart=,command=";
    const { stdout } = await runProgram("/bin/ps", ["-A", "-ww", "-o", columns], {
      env: { LC_ALL: "C" },
      timeoutMs: 8000,
    });
    return parseProcessList(stdout.toString());
  },
};

const LINE =
  /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+([\d.]+)\s+(\d+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]{8}\s+\d{4})\s*(.*)$/;

/** Lines of `ps`; those that only wait to be collected are left out. */
export function parseProcessList(text: string): ProcessFacts[] {
  const found: ProcessFacts[] = [];
  for (const line of text.split("\n")) {
    const [, pid, parent, state, user = "", cpu, kilobytes, started = "", command = ""] =
      LINE.exec(line) ?? [];
    if (pid === undefined || state?.startsWith("Z")) continue;
    found.push({
      pid: Number(pid),
      parent: Number(parent),
      name: nameOf(command),
      command,
      user,
      cpuPercent: Number(cpu),
      memoryBytes: Number(kilobytes) * 1024,
      started: Date.parse(started),
    });
  }
  return found;
}

/** A program's path may hold spaces: an application's is known by its end, others by the first word. */
function nameOf(command: string): string {
  const inBundle = /^\/.*?\.app\/Contents\/MacOS\/([^/]+?)(?= -|$)/.exec(command)?.[1];
  return inBundle ?? command.split(" ", 1)[0]?.split("/").at(-1) ?? command;
}
