/** Reads one folder for what a sandboxed command must not reach there, and for what is to be read next. */
import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  realpathSync,
} from "node:fs";
import path from "node:path";
import { MatrxError } from "@matrx/shared/errors.ts";
import { entryStat } from "../fs/entry-stat.ts";
import { isRepository } from "../fs/git-folder.ts";
import type { ProtectedPaths } from "../fs/protected-paths.ts";
import { isSearchable } from "./disk.ts";
import type { Question } from "./question.ts";
import { mayBeUnnameable, requireNameable } from "./unnameable.ts";

export interface Entries {
  readonly closed: readonly string[];
  readonly unchangeable: readonly string[];
}

export interface Folder extends Entries {
  readonly identity: string;
  readonly state: string;
  /** Whether any change since would show in its state. */
  readonly isSettled: boolean;
  /** The same on file systems with coarse times. */
  readonly isQuiet: boolean;
  readonly folders: readonly string[];
}

/** Coarsest resolution of a folder's mtime, in milliseconds: two changes within it may look like one. */
const MTIME_RESOLUTION_MS = 2000;
/** How long Linux may give two changes the same time, in milliseconds. */
const TICK_MS = 12;
/** What makes a folder a repository without `.git`, and names programs there. */
const SETTINGS_OF_GIT: ReadonlySet<string> = new Set([
  "HEAD",
  "config",
  "config.worktree",
  "hooks",
  "commondir",
]);
/** In a repository itself, whose HEAD changes. */
const IN_GIT = /\/\.git(?:\/|$)/;
/** A folder was moved before it was opened. */
const MOVED: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);
/** Says nothing about the folder. */
const EXHAUSTED: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM"]);
const OPEN_FOLDER = constants.O_DIRECTORY | constants.O_NOFOLLOW;

export function identityOf(stat: BigIntStats | undefined): string {
  return `${stat?.dev}:${stat?.ino}`;
}

export function stateOf(stat: BigIntStats | undefined): string {
  return `${identityOf(stat)} ${stat?.mtimeNs} ${stat?.ctimeNs}`;
}

/** In milliseconds, since its entries or it itself were changed: moving it changes its ctime alone. */
function ageOf({ mtimeMs, ctimeMs }: BigIntStats): number {
  return Date.now() - Number(mtimeMs > ctimeMs ? mtimeMs : ctimeMs);
}

/**
 * Reads a folder by its descriptor: its state is that of what was read, whatever stands at its path meanwhile. Throws MatrxError
 * if something closed is there that has no path.
 */
export function readFolder(folder: string, expected: BigIntStats, question: Question): Folder {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(folder, OPEN_FOLDER);
    const stat = fstatSync(descriptor, { bigint: true });
    if (isShut(stat)) return { ...ageing(stat), ...SHUT, closed: [folder] };
    const { hasUnnameable, ...content } = contentOf(folder, `/proc/self/fd/${descriptor}`, question);
    const age = ageing(stat);
    // What changes below an entry without a path is looked for each time.
    return { ...age, ...content, isQuiet: age.isQuiet && !hasUnnameable };
  } catch (error) {
    if (error instanceof MatrxError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || EXHAUSTED.has(code)) throw error;
    const content = { ...ageing(expected), ...SHUT, closed: isOwn(expected) ? [folder] : [] };
    return MOVED.has(code) ? { ...content, closed: [], state: "moved" } : content;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const SHUT = { unchangeable: [], folders: [] };

/**
 * Whether a folder is closed as a whole: a command may open its user's own again and find there what this search could not
 * see, and nothing can be covered in one that the sandbox may not enter, such as another user's.
 */
function isShut(stat: BigIntStats): boolean {
  const [uid, gid, mode] = [Number(stat.uid), Number(stat.gid), Number(stat.mode)];
  return !isSearchable({ uid, gid, mode }) || (isOwn(stat) && (mode & 0o400) === 0);
}

function isOwn({ uid }: BigIntStats): boolean {
  return Number(uid) === process.geteuid?.();
}

/** A folder's state, and whether any change since would show in it. */
export function ageing(stat: BigIntStats): Pick<Folder, "identity" | "state" | "isSettled" | "isQuiet"> {
  const age = ageOf(stat);
  return {
    identity: identityOf(stat),
    state: stateOf(stat),
    isSettled: age > TICK_MS,
    isQuiet: age > MTIME_RESOLUTION_MS,
  };
}

/** `opened`: where the folder is surely found. Files are looked at by their paths: through it, that takes half as long again. */
function contentOf(folder: string, opened: string, question: Question) {
  const content = { closed: [] as string[], unchangeable: [] as string[], folders: [] as string[] };
  const entries = readdirSync(opened, { withFileTypes: true });
  const hasUnnameable = entries.some(({ name }) => mayBeUnnameable(name));
  if (hasUnnameable) requireNameable(folder, opened, question);
  const isFixed = fixedIn(folder, entries, question);
  for (const entry of entries) {
    const where = path.posix.join(folder, entry.name);
    // A link cannot be covered; what it leads to can.
    if (entry.isSymbolicLink())
      content.closed.push(...(question.isClosed(where) ? targetOf(`${opened}/${entry.name}`) : []));
    else if (isClosed(entry, where, question)) content.closed.push(where);
    else {
      if (isFixed(entry, where)) content.unchangeable.push(where);
      if (entry.isDirectory()) content.folders.push(where);
      else if (entry.isFile()) {
        const kind = kindByOtherName(where, question);
        if (kind) content[kind === "closed" ? "closed" : "unchangeable"].push(where);
      }
    }
  }
  return { ...content, hasUnnameable };
}

function isClosed(entry: Dirent, where: string, question: Question): boolean {
  return entry.isSocket() || (question.closesPipes && entry.isFIFO()) || question.isClosed(where);
}

type IsFixed = (entry: Dirent, where: string) => boolean;

/** Which entries of a folder must stay as they are; where the folder itself must, that is enough. */
function fixedIn(folder: string, entries: readonly Dirent[], question: Question): IsFixed {
  const { keepsRepositories } = question;
  if (question.isUnchangeable(folder)) return () => false;
  const mayBeOfGit = keepsRepositories && !IN_GIT.test(folder);
  const isOfGit = mayBeOfGit && isRepository((name) => entries.some((entry) => entry.name === name));
  return (entry, where) =>
    question.isUnchangeable(where) ||
    (isOfGit && SETTINGS_OF_GIT.has(entry.name)) ||
    // That of a submodule or a second working tree: it says where the repository is.
    (keepsRepositories && entry.name === ".git" && entry.isFile());
}

function kindByOtherName(file: string, question: Question): keyof ProtectedPaths | undefined {
  const stat = entryStat(file);
  return stat && stat.nlink > 1n ? question.kindOfFile(stat) : undefined;
}

function targetOf(link: string): string[] {
  try {
    return [realpathSync.native(link)];
  } catch {
    return [];
  }
}
