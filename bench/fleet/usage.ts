/** Memory and descriptors of a process, as Linux tells them. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface Usage {
  memory_kib: number;
  descriptors: number;
}

export function usageOf(pid: number): Usage {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return {
    memory_kib: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** Objects whose database is open: those that are awake. */
export function awakeObjects(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => /\/[0-9a-f]{64}\.sqlite$/.test(linkOf(`${folder}/${name}`)))
    .length;
}

/** A descriptor may be closed between listing and reading. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
