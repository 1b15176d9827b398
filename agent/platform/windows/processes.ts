/** Processes by `taskkill`. Never run: no Windows machine was at hand. */
import type { ProcessTable } from "../processes.ts";
import { runProgram } from "../run-program.ts";

export const windowsProcesses: ProcessTable = {
  async beginOf(pid) {
    return isAlive(pid) ? "" : undefined;
  },

  async members(root) {
    return isAlive(root.pid) ? [root.pid] : [];
  },

  waitForKeys: () => Promise.resolve(false),

  /** A console program hears no TERM: without force `taskkill` only asks windows to close. */
  async signal(root, _pids, signal) {
    const force = signal === "SIGKILL" ? ["/F"] : [];
    const args = ["/PID", String(root.pid), "/T", ...force];
    await runProgram("taskkill", args, { timeoutMs: 2000 }).catch(() => undefined);
  },
};

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
