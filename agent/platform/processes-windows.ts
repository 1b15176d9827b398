/** Processes by `taskkill`. Never run: no Windows machine was at hand. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { ProcessTable } from "./processes.ts";

const run = promisify(execFile);

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
    await run("taskkill", ["/PID", String(root.pid), "/T", ...force], {
      timeout: 2000,
      windowsHide: true,
    }).catch(() => undefined);
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
