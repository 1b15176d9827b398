/** What bubblewrap mounts of a caller's folders and of the system, and in which order. */
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import { realDisk } from "./disk.ts";
import { exchanged } from "./mount-check.ts";
import { isBelow, isIn } from "./paths.ts";
import type { HiddenPath, SandboxRules } from "./rules.ts";

/** bwrap takes 9000 arguments; a hidden folder takes four. */
const MOST_MOUNTS = 2000;

export interface Bind {
  readonly path: string;
  readonly isWritable: boolean;
}

export interface Parts {
  /** In granted folders, or around them. */
  readonly first: readonly Bind[];
  readonly firstMasks: readonly HiddenPath[];
  readonly last: readonly Bind[];
  readonly lastMasks: readonly HiddenPath[];
}

/** Throws MatrxError. */
export function partsOf({
  readable,
  writable,
  hidden,
  granted,
}: Pick<SandboxRules, "readable" | "writable" | "hidden" | "granted">): Parts {
  const isGranted = (path: string) => granted.some((root) => isIn(path, root));
  const isAround = (path: string) => granted.some((root) => isBelow(root, path));
  const binds = [
    ...readable.map((path) => ({ path, isWritable: false })),
    ...writable.map((path) => ({ path, isWritable: true })),
  ].sort((a, b) => a.path.length - b.path.length);
  // bwrap would create what is missing.
  if (!hidden.every(isStillThere)) throw exchanged();
  const first = binds.filter(({ path }) => isGranted(path) || isAround(path));
  const beside = binds.flatMap(({ path }) =>
    isAround(path) && !isGranted(path) ? besideRoots(path, granted) : [],
  );
  const mounts = binds.length + beside.length + hidden.length;
  if (mounts > MOST_MOUNTS) throw tooManyMounts(mounts);
  return {
    first,
    firstMasks: hidden.filter(({ path }) => isGranted(path)),
    last: [
      ...binds.filter((bind) => !first.includes(bind)),
      ...beside.map((path) => ({ path, isWritable: false })),
    ],
    lastMasks: hidden.filter(({ path }) => !isGranted(path)),
  };
}

/** All of a folder of the system that is on no way to a granted one. */
function besideRoots(folder: string, granted: readonly string[]): string[] {
  if (granted.includes(folder)) return [];
  if (!granted.some((root) => isBelow(root, folder))) return [folder];
  return realDisk
    .entriesOf(folder)
    .filter((entry) => ["folder", "file"].includes(realDisk.kindOf(entry) ?? ""))
    .flatMap((entry) => besideRoots(entry, granted));
}

export function bindOf({ path, isWritable }: Bind): string[] {
  return [isWritable ? "--bind-try" : "--ro-bind-try", path, path];
}

/** What stands over a hidden path refuses to be read, written, moved or removed. */
export function maskOf({ path, isFolder }: HiddenPath): string[] {
  return isFolder ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path];
}

function isStillThere({ path }: HiddenPath): boolean {
  return realDisk.kindOf(path) !== undefined;
}

function tooManyMounts(mounts: number): MatrxError {
  return agentError(
    "UNAVAILABLE",
    `The granted folders hold too many closed paths (${mounts}) for the sandbox`,
    {
      hint: "Ask the owner for smaller folders, or to close whole folders instead of single files in them",
      details: { limit: MOST_MOUNTS, mounts },
    },
  );
}
