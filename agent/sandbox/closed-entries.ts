/**
 * Searches granted folders for what a sandboxed command must not reach there: paths that a glob closes, other names of
 * Matrx's own files, sockets and pipes of other programs. A folder is read again only if it changed.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
} from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import { entryStat } from "../fs/entry-stat.ts";
import { isRepository } from "../fs/git-folder.ts";
import type { ProtectedPaths } from "../fs/protected-paths.ts";
import { TimeSlice } from "../search/time-slice.ts";
import { isSearchable } from "./disk.ts";

/** What is looked for; `key` tells apart questions with different answers. */
export interface Question {
  readonly key: string;
  isClosed(path: string): boolean;
  isUnchangeable(path: string): boolean;
  /** Whether what names programs in a repository is unchangeable, wherever that is. */
  readonly keepsRepositories: boolean;
  /** Whether pipes of other programs are closed, which a read-only mount leaves writable. */
  readonly closesPipes: boolean;
  /** What a file with more than one name is by another of them. */
  kindOfFile(stat: BigIntStats): keyof ProtectedPaths | undefined;
}

export interface Found {
  readonly closed: readonly string[];
  readonly unchangeable: readonly string[];
}

interface Folder extends Found {
  readonly identity: string;
  readonly state: string;
  /** Whether any change since would show in its state. */
  readonly isSettled: boolean;
  /** The same on file systems with coarse times. */
  readonly isQuiet: boolean;
  readonly folders: readonly string[];
}

/** Limit on the folders of one search. */
const MOST_FOLDERS = 200_000;
/** Coarsest resolution of a folder's mtime, in milliseconds: two changes within it may look like one. */
const MTIME_RESOLUTION_MS = 2000;
/** How long Linux may give two changes the same time, in milliseconds. */
const TICK_MS = 12;
/** Folders that keep changing are read again for at least this long, in milliseconds, and this many times: a slow machine reads few. */
const UNREST_MS = 40;
const UNREST_ROUNDS = 16;
/** Questions whose folders are remembered. */
const KEPT_QUESTIONS = 4;
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

export class ClosedEntries {
  readonly #folders = new Map<string, ReadonlyMap<string, Folder>>();
  readonly #most: number;

  constructor(most = MOST_FOLDERS) {
    this.#most = most;
  }

  /** Throws MatrxError if there are too many entries to check them before each command. */
  async find(roots: readonly string[], question: Question): Promise<Found> {
    const search = new Search(question, this.#folders.get(question.key), this.#most);
    await search.walk(roots);
    await search.untilQuiet();
    this.#remember(question.key, search.quiet);
    return { closed: [...search.closed], unchangeable: [...search.unchangeable] };
  }

  #remember(key: string, folders: ReadonlyMap<string, Folder>): void {
    this.#folders.delete(key);
    this.#folders.set(key, folders);
    const [oldest] = this.#folders.keys();
    if (this.#folders.size > KEPT_QUESTIONS && oldest !== undefined) this.#folders.delete(oldest);
  }
}

class Search {
  readonly closed = new Set<string>();
  readonly unchangeable = new Set<string>();
  /** Folders whose content is known as long as their state is the same. */
  readonly quiet = new Map<string, Folder>();
  /** Those that changed just now may change again without showing it. */
  readonly #lively = new Map<string, Folder>();
  /** Folders that were read, wherever they are now. */
  readonly #visited = new Set<string>();
  readonly #slice = new TimeSlice();
  readonly #question: Question;
  readonly #known: ReadonlyMap<string, Folder> | undefined;
  readonly #most: number;

  constructor(question: Question, known: ReadonlyMap<string, Folder> | undefined, most: number) {
    this.#question = question;
    this.#known = known;
    this.#most = most;
  }

  async walk(roots: readonly string[]): Promise<void> {
    const pending = [...roots];
    for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
      if (this.#slice.isUp) await this.#slice.rest();
      const stat = this.#look(folder);
      if (!stat?.isDirectory()) continue;
      pending.push(...this.#read(folder, stat));
      if (this.#visited.size > this.#most) throw tooMany(roots);
    }
  }

  /**
   * A folder that another command moves while this one searches could be in none of the places when they are read. So those
   * that change are read again, and what turned up in them is searched, until all are quiet or it takes too long.
   */
  async untilQuiet(): Promise<void> {
    const until = performance.now() + UNREST_MS;
    let rounds = 0;
    for (let changing = this.#changing(); changing.length > 0; changing = this.#changing()) {
      rounds++;
      for (const { folder, stat } of changing) {
        const entries = this.#read(folder, stat);
        await this.walk(entries.filter((entry) => !this.#visited.has(identityOf(entryStat(entry)))));
      }
      if (rounds >= UNREST_ROUNDS && performance.now() > until) return;
      await sleep(1);
    }
  }

  /** What can't be looked at now, because a command changes modes, is closed. */
  #look(folder: string): BigIntStats | undefined {
    try {
      return lstatSync(folder, { bigint: true, throwIfNoEntry: false });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EACCES") this.closed.add(folder);
      return undefined;
    }
  }

  #read(folder: string, stat: BigIntStats): readonly string[] {
    const remembered = this.#known?.get(folder);
    const content =
      remembered?.state === stateOf(stat) ? remembered : readFolder(folder, stat, this.#question);
    this.#visited.add(content.identity);
    (content.isQuiet ? this.quiet : this.#lively).set(folder, content);
    for (const entry of content.closed) this.closed.add(entry);
    for (const entry of content.unchangeable) this.unchangeable.add(entry);
    return content.folders;
  }

  #changing(): { readonly folder: string; readonly stat: BigIntStats }[] {
    return [...this.#lively].flatMap(([folder, { state, isSettled }]) => {
      const stat = entryStat(folder);
      if (!stat?.isDirectory()) return [];
      return isSettled && state === stateOf(stat) ? [] : [{ folder, stat }];
    });
  }
}

function identityOf(stat: BigIntStats | undefined): string {
  return `${stat?.dev}:${stat?.ino}`;
}

function stateOf(stat: BigIntStats | undefined): string {
  return `${identityOf(stat)} ${stat?.mtimeNs} ${stat?.ctimeNs}`;
}

/** In milliseconds, since its entries or it itself were changed: moving it changes its ctime alone. */
function ageOf({ mtimeMs, ctimeMs }: BigIntStats): number {
  return Date.now() - Number(mtimeMs > ctimeMs ? mtimeMs : ctimeMs);
}

/** Reads a folder by its descriptor: its state is that of what was read, whatever stands at its path meanwhile. */
function readFolder(folder: string, expected: BigIntStats, question: Question): Folder {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(folder, OPEN_FOLDER);
    const stat = fstatSync(descriptor, { bigint: true });
    if (isShut(stat)) return { ...ageing(stat), ...SHUT, closed: [folder] };
    return { ...ageing(stat), ...contentOf(folder, `/proc/self/fd/${descriptor}`, question) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || EXHAUSTED.has(code)) throw error;
    const times = ageing(expected);
    if (MOVED.has(code)) return { ...times, ...NOT_READ };
    return { ...times, ...SHUT, closed: isOwn(expected) ? [folder] : [] };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const SHUT = { unchangeable: [], folders: [] };
const NOT_READ = { ...SHUT, identity: "none", isSettled: false, isQuiet: false, closed: [] };

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

function ageing(stat: BigIntStats): Pick<Folder, "identity" | "state" | "isSettled" | "isQuiet"> {
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
  return content;
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

function tooMany(roots: readonly string[]): MatrxError {
  return agentError("UNAVAILABLE", "The granted folders are too large to check them before a command runs", {
    hint: `Ask the owner for smaller folders than ${roots.slice(0, 4).join(", ")}`,
    details: { folders: roots.slice(0, 64) },
  });
}
