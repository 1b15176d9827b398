/** What a sandboxed command may reach, compiled from what its caller may do. Pure: the disk is asked through `Disk`. */
import type { SandboxLimits } from "./limits.ts";
import { distinctRoots, isBelow, isIn } from "./paths.ts";

export interface SandboxRules {
  /** Folders and files that are readable. The longest path of the three lists that contains a path decides about it. */
  readonly readable: readonly string[];
  /** Folders and files that are readable and writable. */
  readonly writable: readonly string[];
  /** Existing folders and files that are neither. */
  readonly hidden: readonly HiddenPath[];
  /** Domains that may be reached; empty: no network at all. */
  readonly network: readonly string[];
  readonly cwd: string;
  /** The home folder, if the command may read it. */
  readonly home: string | undefined;
  /** The folders that its caller was granted; the other readable ones are needed to run programs. */
  readonly granted: readonly string[];
  readonly limits: SandboxLimits;
  /** Folders that hold what is hidden or fixed, and must be those that were searched. */
  readonly searched: readonly SearchedFolder[];
}

export interface SearchedFolder {
  readonly path: string;
  /** As the kernel lists it for a descriptor. */
  readonly inode: string;
}

export interface HiddenPath {
  readonly path: string;
  readonly isFolder: boolean;
}

/** The caller's side of the rules. All paths are canonical. */
export interface Reach {
  /** The folders that each party allows which limits folders at all. */
  readonly folderLimits: readonly (readonly string[])[];
  readonly mayRead: boolean;
  readonly mayWrite: boolean;
  /** Paths that are closed, existing or not: with all that is in them, neither readable nor writable. */
  readonly closed: readonly string[];
  /** Paths that may be read, but not changed. */
  readonly unchangeable: readonly string[];
  /** Paths in those that may be changed all the same, but for unchangeable ones in them. */
  readonly opened: readonly string[];
  /** Folders in which nothing may be created. */
  readonly sealed: readonly string[];
  readonly network: readonly string[];
  readonly cwd: string;
  readonly home: string;
  readonly limits: SandboxLimits;
  /** What programs need: readable by every command. */
  readonly system: readonly string[];
}

export type EntryKind = "folder" | "file" | "link" | "other";

export interface Disk {
  /** What is at a path, and not where it leads. Undefined: nothing. */
  kindOf(path: string): EntryKind | undefined;
  /** Paths of a folder's entries. */
  entriesOf(folder: string): readonly string[];
}

/** File systems that are the kernel's, or full of sockets: the sandbox has its own. */
const OWN_OF_SANDBOX = ["/proc", "/sys", "/dev", "/run"];

export function compileRules(reach: Reach, disk: Disk): SandboxRules {
  const { closed, unchangeable, mayWrite, network, limits } = reach;
  const roots = grantedFolders(reach, disk);
  const system = distinctRoots(
    reach.system.filter((path) => !isInAny(path, closed) && !isInAny(path, roots)),
  );
  const isFixed = (path: string) => lengthIn(unchangeable, path) > lengthIn(reach.opened, path);
  const bound = [...roots, ...system];
  // A link cannot be covered: like a missing path, it must not become something else.
  const isThere = (path: string) => !["link", undefined].includes(disk.kindOf(path));
  const existing = (paths: readonly string[]) => distinctRoots(paths.filter(isThere));
  const hidden = existing(closed).filter((path) => bound.some((root) => isBelow(path, root)));
  const isOpen = (path: string) => !isInAny(path, hidden);

  const opened = reach.opened.filter(
    (path) => mayWrite && isBindable(path, disk) && isInAny(path, roots) && isOpen(path) && !isFixed(path),
  );
  const changeable = mayWrite ? roots.filter((root) => !isFixed(root)) : [];
  const writableRoots = distinctRoots([...changeable, ...opened]);
  // In a fixed folder all is fixed with it.
  const fixed = unchangeable.filter(
    (path) =>
      isThere(path) &&
      isInAny(path, writableRoots) &&
      isOpen(path) &&
      isFixed(path) &&
      !isFixed(parentOf(path)),
  );
  const missing = [...closed, ...unchangeable].filter((path) => !isThere(path) && isOpen(path));
  const sealed = [
    ...sealedFolders(missing, writableRoots, disk),
    ...reach.sealed.filter((path) => isInAny(path, writableRoots) && isFolder(path, disk)),
  ].filter((path) => isOpen(path) && !isFixed(path));
  const entries = sealed.flatMap((folder) =>
    disk.entriesOf(folder).filter((entry) => isBindable(entry, disk) && isOpen(entry) && !isFixed(entry)),
  );
  const anchors = anchorsOf([...hidden, ...fixed, ...sealed], writableRoots).filter((path) => !isFixed(path));
  const writable = [...writableRoots, ...opened, ...anchors, ...entries].filter(
    (path) => !sealed.includes(path),
  );
  // What is in a sealed folder is fixed with it.
  const alone = fixed.filter((path) => !sealed.includes(parentOf(path)));
  const readable = [...system, ...roots.filter((root) => !writable.includes(root)), ...alone, ...sealed];
  return {
    readable: [...new Set(readable)],
    writable: [...new Set(writable)],
    hidden: hidden.map((path) => ({ path, isFolder: disk.kindOf(path) === "folder" })),
    network,
    cwd:
      [reach.cwd, ...roots].find((path) => isInAny(path, roots) && isOpen(path) && isFolder(path, disk)) ??
      SCRATCH,
    home: isInAny(reach.home, roots) && isOpen(reach.home) ? reach.home : undefined,
    granted: roots,
    limits,
    searched: [],
  };
}

/** Every command has a private one. */
export const SCRATCH = "/tmp";

/** Whether a command under these rules can see what is at a canonical path of the host. */
export function mayRead(rules: SandboxRules, path: string): boolean {
  return decidingList(rules, path) !== undefined;
}

export function mayWrite(rules: SandboxRules, path: string): boolean {
  return decidingList(rules, path) === "writable";
}

function decidingList(rules: SandboxRules, path: string): "readable" | "writable" | undefined {
  if (rules.hidden.some((hidden) => isIn(path, hidden.path))) return undefined;
  const readable = lengthIn(rules.readable, path);
  const writable = lengthIn(rules.writable, path);
  if (readable < 0 && writable < 0) return undefined;
  return writable > readable ? "writable" : "readable";
}

/** The length of the longest path of a list that contains a path; -1: none does. */
function lengthIn(list: readonly string[], path: string): number {
  return Math.max(-1, ...list.filter((one) => isIn(path, one)).map((one) => one.length));
}

/** The folders that all parties allow. Without limits, and for the whole disk, commands get the home folder. */
export function grantedFolders(
  { folderLimits, mayRead, closed, home }: Pick<Reach, "folderLimits" | "mayRead" | "closed" | "home">,
  disk: Disk,
): string[] {
  if (!mayRead) return [];
  const narrowed = folderLimits.map((folders) => folders.map((folder) => (folder === "/" ? home : folder)));
  const [first = [home], ...others] = narrowed;
  const common = others.reduce<readonly string[]>(commonFolders, first);
  return distinctRoots(common).filter(
    (folder) =>
      isBindable(folder, disk) &&
      !isInAny(folder, closed) &&
      !isInAny(folder, OWN_OF_SANDBOX) &&
      folder !== "/",
  );
}

function commonFolders(some: readonly string[], others: readonly string[]): string[] {
  return some.flatMap((one) =>
    others.flatMap((other) => (isIn(one, other) ? [one] : isIn(other, one) ? [other] : [])),
  );
}

/**
 * The folders in which a missing path would be created that must not be. They stay read-only, and each of their entries is bound by
 * itself: nothing is created in them, and none of the entries is replaced.
 */
function sealedFolders(missing: readonly string[], roots: readonly string[], disk: Disk): string[] {
  const folders = missing
    .filter((path) => roots.some((root) => isBelow(path, root)))
    .map((path) => {
      let folder = parentOf(path);
      while (disk.kindOf(folder) !== "folder") folder = parentOf(folder);
      return folder;
    });
  // Below a granted file nothing can be created, and it is a mount point itself.
  return [...new Set(folders)].filter((folder) => isInAny(folder, roots));
}

/** The folders between a root and what must not be replaced in it: as mount points they cannot be renamed. */
function anchorsOf(paths: readonly string[], roots: readonly string[]): string[] {
  const anchors = new Set<string>();
  for (const root of roots) {
    for (const path of paths) {
      if (!isBelow(path, root)) continue;
      for (let folder = parentOf(path); folder !== root; folder = parentOf(folder)) anchors.add(folder);
    }
  }
  return [...anchors];
}

function isInAny(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isIn(path, folder));
}

function isBindable(path: string, disk: Disk): boolean {
  const kind = disk.kindOf(path);
  return kind === "folder" || kind === "file";
}

function isFolder(path: string, disk: Disk): boolean {
  return disk.kindOf(path) === "folder";
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}
