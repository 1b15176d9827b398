/** Programs on pseudo terminals, from /proc. */
import { readdir, readFile, readlink } from "node:fs/promises";
import type { TerminalProcesses } from "../terminal-processes.ts";
import { allPids } from "./processes.ts";

export const linuxTerminalProcesses: TerminalProcesses = {
  async foregroundOf(shell) {
    const group = await foregroundGroup(shell);
    if (group === undefined || group <= 0) return undefined;
    const commandLine = await readFile(`/proc/${group}/cmdline`, "utf8").catch(() => "");
    const cwd = await readlink(`/proc/${group}/cwd`).catch(() => undefined);
    return { group, command: commandLine.replace(/\0+$/, "").replaceAll("\0", " "), cwd };
  },

  async usersOf(shell) {
    const device = await deviceOf(shell);
    if (device === undefined) return [];
    const pids = (await allPids()).filter((pid) => pid !== process.pid);
    const uses = await Promise.all(pids.map((pid) => hasOpen(pid, device)));
    return pids.filter((_, index) => uses[index]);
  },
};

/** Field 8 of its line: the group that the keys of its terminal reach. */
async function foregroundGroup(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields.length > 5 ? Number(fields[5]) : undefined;
}

async function deviceOf(pid: number): Promise<string | undefined> {
  for (const descriptor of [0, 1, 2]) {
    const link = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => "");
    if (/^\/dev\/pts\/\d+$/.test(link)) return link;
  }
  return undefined;
}

async function hasOpen(pid: number, device: string): Promise<boolean> {
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
  for (const descriptor of descriptors)
    if ((await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => "")) === device) return true;
  return false;
}
