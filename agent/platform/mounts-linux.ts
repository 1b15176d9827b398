import { readFileSync } from "node:fs";

/** All mount points, also those of folders that are bound to another place of the same file system. */
export function linuxMountPoints(): readonly string[] {
  try {
    return parseMountInfo(readFileSync("/proc/self/mountinfo", "utf8"));
  } catch {
    return [];
  }
}

/** The fifth field of each line. */
export function parseMountInfo(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.split(" ")[4])
    .filter((point) => point !== undefined)
    .map(unescaped);
}

/** A path as the kernel's tables of mounts write it: blanks, tabs, line ends and backslashes in octal. */
export function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
}
