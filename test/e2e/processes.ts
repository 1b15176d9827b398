/** Processes of a test, found by its folder. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { isAlive } from "../../scripts/start/process.ts";

/** What lives and has the folder as working directory, in its command line, or in its environment (Linux). */
export function processesOf(folder: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isAlive(Number(name)))
    .filter((pid) => facts(pid).includes(folder))
    .map(
      (pid) => `${pid}: ${read(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ")}`,
    );
}

function facts(pid: string): string {
  const texts = [
    () => readlinkSync(`/proc/${pid}/cwd`),
    () => readFileSync(`/proc/${pid}/cmdline`, "utf8"),
    () => readFileSync(`/proc/${pid}/environ`, "utf8"),
  ];
  return texts.map(read).join("\n");
}

/** A process may be gone, or another user's. */
function read(text: () => string): string {
  try {
    return text();
  } catch {
    return "";
  }
}
