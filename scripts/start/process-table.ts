/** Other processes of this machine: since when one lives, and which of them were started for one of our folders. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export interface FoundProcess {
  readonly pid: number;
  /** Program and arguments, with blanks between. */
  readonly command: string;
}

export interface ProcessTable {
  /** When a process began, as the system reports it, since a pid may be reused. Undefined if the system does not tell. */
  beganAt(pid: number): string | undefined;
  /** Program and arguments of a living process; undefined where the system does not tell. */
  commandOf(pid: number): string | undefined;
  /** All processes that tell their command line. */
  all(): FoundProcess[];
  /** A variable in a process's environment; undefined where the system does not tell. */
  variableOf(pid: number, name: string): string | undefined;
}

const linux: ProcessTable = {
  // The name stands in parentheses, and may itself hold spaces and parentheses.
  beganAt: (pid) =>
    read(`/proc/${pid}/stat`)
      ?.split(/\) (?!.*\) )/s)[1]
      ?.split(" ")[19],
  commandOf: (pid) => read(`/proc/${pid}/cmdline`)?.replace(/\0+$/, "").replaceAll("\0", " ") || undefined,
  all: () =>
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => ({ pid: Number(name), command: linux.commandOf(Number(name)) ?? "" }))
      .filter(({ command }) => command !== ""),
  variableOf: (pid, name) =>
    read(`/proc/${pid}/environ`)
      ?.split("\0")
      .find((variable) => variable.startsWith(`${name}=`))
      ?.slice(name.length + 1),
};

/** macOS, from `ps`. Never run there: no machine was at hand; Linux's `ps` prints the same columns. */
export const byPs: ProcessTable = {
  beganAt: (pid) => ps("-o", "lstart=", "-p", String(pid)).trim() || undefined,
  commandOf: (pid) => ps("-ww", "-o", "command=", "-p", String(pid)).trim() || undefined,
  all: () =>
    ps("-A", "-ww", "-o", "pid=,command=")
      .split("\n")
      .map((line) => /^\s*(\d+)\s+(.+)$/.exec(line))
      .filter((match) => match !== null)
      .map(([, pid, command = ""]) => ({ pid: Number(pid), command })),
  variableOf: () => undefined,
};

/** Windows reports none of this quickly. */
const unknown: ProcessTable = {
  beganAt: () => undefined,
  commandOf: () => undefined,
  all: () => [],
  variableOf: () => undefined,
};

export const processTable: ProcessTable =
  process.platform === "linux" ? linux : process.platform === "win32" ? unknown : byPs;

/** Undefined: it is gone, or closed to this user. */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function ps(...args: string[]): string {
  return spawnSync("/bin/ps", args, { cwd: "/", encoding: "utf8", env: { LC_ALL: "C" } }).stdout ?? "";
}
