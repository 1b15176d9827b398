import { readFileSync } from "node:fs";
import { type Mount, type Mounts, mountsOf, noMounts } from "../mounts.ts";

let last: { text: string; mounts: Mounts } | undefined;

/** As the kernel tells it now. */
export function linuxMounts(): Mounts {
  const text = readTable();
  if (text === undefined) return noMounts;
  if (last?.text !== text) last = { text, mounts: mountsOf(parseMountInfo(text)) };
  return last.mounts;
}

function readTable(): string | undefined {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return undefined;
  }
}

/** What stands in for a mounted file or folder that was replaced or removed meanwhile. */
const GONE = /\/\/deleted$/;

export function parseMountInfo(text: string): Mount[] {
  return text.split("\n").flatMap((line) => {
    const [, , device, root, point, ...more] = line.split(" ");
    const type = more[more.indexOf("-") + 1];
    if (device === undefined || root === undefined || point === undefined || type === undefined) return [];
    return [{ device, root: unescaped(root).replace(GONE, ""), point: unescaped(point), type }];
  });
}

/** A path as the kernel's tables of mounts write it: blanks, tabs, line ends and backslashes in octal. */
export function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
}
