/** Processes from `ps`. Never run: no macOS machine was at hand. A process that starts a session of its own and loses its parent escapes. */
import { familyOf, type ProcessRow, type ProcessTable, signalEach } from "../processes.ts";
import { runProgram } from "../run-program.ts";

export const darwinProcesses: ProcessTable = {
  async beginOf(pid) {
    return (await rows()).find((row) => row.pid === pid)?.began;
  },

  async members(root) {
    return familyOf(root, await rows(), new Set());
  },

  waitForKeys: () => Promise.resolve(false),

  async signal(_root, pids, signal) {
    signalEach(pids, signal);
  },
};

async function rows(): Promise<ProcessRow[]> {
  const columns = "pid=,ppid=,pgid=,stat=,lstart=";
  const { stdout } = await runProgram("/bin/ps", ["-A", "-o", columns], { timeoutMs: 2000 });
  return parsePs(stdout.toString());
}

/** `ps` here tells no session number; the group stands for it. */
export function parsePs(text: string): ProcessRow[] {
  const found: ProcessRow[] = [];
  for (const line of text.split("\n")) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line);
    if (!match || match[4]?.startsWith("Z")) continue;
    const group = Number(match[3]);
    found.push({
      pid: Number(match[1]),
      parent: Number(match[2]),
      group,
      session: group,
      began: match[5] ?? "",
    });
  }
  return found;
}
