/** What is mounted where: one folder, or one file, can be reached by several paths that are all free of links. */
import path from "node:path";

export interface Mounts {
  /** Canonical paths of all mount points; none: the system does not tell. */
  readonly points: readonly string[];
  /** Other canonical paths of what stands at a path, or of a part of it. */
  aliasesOf(canonical: string): string[];
  /** A path below a second mount of one of the system's own file systems, such as `/proc`, as the first one has it. */
  usualPath(canonical: string): string;
}

/** For systems without bind mounts. */
export const noMounts: Mounts = { points: [], aliasesOf: () => [], usualPath: (canonical) => canonical };

/** One line of `/proc/self/mountinfo` (proc_pid_mountinfo(5)). */
export interface Mount {
  /** Of the file system, as `major:minor`. */
  readonly device: string;
  /** The path in the file system of what is mounted. */
  readonly root: string;
  readonly point: string;
  readonly type: string;
}

/** Where the system's own file systems are by custom. */
const USUAL_PLACES: ReadonlyMap<string, string> = new Map([
  ["proc", "/proc"],
  ["sysfs", "/sys"],
  ["debugfs", "/sys/kernel/debug"],
  ["tracefs", "/sys/kernel/tracing"],
  ["efivarfs", "/sys/firmware/efi/efivars"],
  ["pstore", "/sys/fs/pstore"],
]);

export function mountsOf(table: readonly Mount[]): Mounts {
  const own = table.filter(({ type, point }) => (USUAL_PLACES.get(type) ?? point) !== point);
  return {
    points: table.map(({ point }) => point),
    aliasesOf(canonical) {
      const found = new Set<string>();
      for (const { device, root, point } of table) {
        const below = pathWithin(canonical, point);
        if (below === undefined) continue;
        for (const alias of aliasesAt(table, device, path.posix.join(root, below))) found.add(alias);
      }
      found.delete(canonical);
      return [...found];
    },
    usualPath(canonical) {
      for (const { type, root, point } of own) {
        const below = pathWithin(canonical, point);
        if (below !== undefined) return path.posix.join(USUAL_PLACES.get(type) ?? "", root, below);
      }
      return canonical;
    },
  };
}

/** Paths of a place in a file system, and of mounts that show a part of what lies there. */
function* aliasesAt(table: readonly Mount[], device: string, place: string): Generator<string, void> {
  for (const mount of table) {
    if (mount.device !== device) continue;
    const below = pathWithin(place, mount.root);
    if (below !== undefined) yield path.posix.join(mount.point, below);
    else if (pathWithin(mount.root, place) !== undefined) yield mount.point;
  }
}

/** The rest of a path after a folder that it lies in; empty: it is that folder. */
function pathWithin(place: string, folder: string): string | undefined {
  if (place === folder) return "";
  const above = folder === "/" ? folder : `${folder}/`;
  return place.startsWith(above) ? place.slice(above.length) : undefined;
}
