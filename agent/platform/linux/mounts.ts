/** Drives and mounts of Linux, from /proc. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type Mount, type Mounts, mountsOf, noMounts } from "../mounts.ts";
import type { Drive, ListDrives } from "../platform.ts";

/** File systems on this machine's own disks. What is not named here may be far away, or none at all. */
const LOCAL = new Set(
  "bcachefs btrfs exfat ext2 ext3 ext4 f2fs fuseblk hfsplus jfs nilfs2 ntfs ntfs3 reiserfs vfat xfs zfs".split(
    " ",
  ),
);
/** In memory, for the system itself. */
const SYSTEM = /^\/(?:dev|proc|run|sys)(?:\/|$)/;

export const linuxDrives: ListDrives = async () => parseMounts(await readFile("/proc/self/mounts", "utf8"));

/** Each source once, where it is mounted highest: a bind mount shows the same disk again. */
export function parseMounts(text: string): Drive[] {
  const places = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [source = "", escaped = "", type = "", options = ""] = line.split(" ");
    const path = unescaped(escaped);
    if (!isCounted(type, path) || options.split(",").includes("ro")) continue;
    const name = sourceOf(source, type, path);
    const known = places.get(name);
    if (known === undefined || path.length < known.length) places.set(name, path);
  }
  return [...places.values()].map((path) => ({ name: path, path }));
}

function isCounted(type: string, path: string): boolean {
  if (type === "tmpfs") return !SYSTEM.test(path);
  // A container's root; below it they show other containers' parts of a disk that is listed itself.
  if (type === "overlay") return path === "/";
  return LOCAL.has(type);
}

function sourceOf(source: string, type: string, path: string): string {
  if (type === "zfs") return `zfs ${source.split("/")[0]}`;
  return source.startsWith("/dev/") ? source : path;
}

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
