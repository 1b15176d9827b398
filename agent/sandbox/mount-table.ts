/** What is mounted where, as the kernel tells it in `/proc/self/mountinfo` (proc_pid_mountinfo(5)). */
import { isBelow, isIn } from "./paths.ts";

export interface Mount {
  readonly id: string;
  readonly parent: string;
  /** Major and minor number of its file system. */
  readonly device: string;
  /** The path in that file system which is seen at `at`. */
  readonly root: string;
  readonly at: string;
}

export function parseMounts(mountinfo: string): Mount[] {
  return mountinfo
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [id = "", parent = "", device = "", root = "", at = ""] = line.split(" ");
      return { id, parent, device, root: unescaped(root), at: unescaped(at) };
    });
}

/** The device and the path in its file system that a canonical path leads to. Undefined: nothing is mounted at `/`. */
export function originOf(
  path: string,
  mounts: readonly Mount[],
): { device: string; root: string } | undefined {
  const isListed = new Set(mounts.map(({ id }) => id));
  let mount = mounts.find(({ at, parent }) => at === "/" && !isListed.has(parent));
  let inner = mount;
  while (inner) {
    mount = inner;
    const { id } = mount;
    // Of several on the way, what is mounted nearer to the root covers the others.
    [inner] = mounts
      .filter((each) => each.parent === id && each.id !== id && isIn(path, each.at))
      .sort((a, b) => a.at.length - b.at.length);
  }
  if (!mount) return undefined;
  const below = mount.at === "/" ? path : path.slice(mount.at.length);
  return { device: mount.device, root: joined(mount.root, below) };
}

/** What is mounted in a folder, and not on it. */
export function mountsBelow(folder: string, mounts: readonly Mount[]): Mount[] {
  return mounts.filter(({ at }) => isBelow(at, folder));
}

/** A line for each mount, as `mountinfo` has it: `*` stands for any device. */
export function mountLine(device: string, root: string, at: string): string {
  return `${device} ${escaped(root)} ${escaped(at)}`;
}

function joined(root: string, below: string): string {
  if (root === "/") return below === "" ? "/" : below;
  return below === "/" ? root : `${root}${below}`;
}

function escaped(path: string): string {
  return path.replace(/[ \t\n\\]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
