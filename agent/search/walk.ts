/** Walks folders, each opened relative to its parent's descriptor; follows no links. */
import { isUtf8 } from "node:buffer";
import { MatrxError } from "@matrx/shared/errors.ts";
import { isSystemError, systemCodeOf } from "../fs/errors.ts";
import type { Directory } from "../platform/directory.ts";
import { TimeSlice } from "../platform/time-slice.ts";
import { textOfName } from "../text/display-name.ts";
import type { Run } from "./engine.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import { type ListedEntry, listedEntries } from "./listed-entries.ts";
import type { Scope } from "./scope.ts";

/** Some entries of one folder. */
export interface Walked {
  /** What stands before their names in a path relative to the scope's folder: empty, or with `/` at its end. */
  readonly above: string;
  readonly entries: readonly ListedEntry[];
}

export interface Wish {
  /** False for only the folder itself. */
  readonly deep: boolean;
  /** Sorted by path, name by name, in byte order; otherwise in any order. */
  readonly ordered: boolean;
}

/** A folder to enter. */
interface FolderToEnter {
  /** Canonical. */
  readonly path: string;
  readonly above: string;
  /** Of the folder that contains it. */
  readonly rules: IgnoreRules;
  readonly depth: number;
  open(): Promise<Directory>;
}

interface Folder {
  readonly path: string;
  readonly above: string;
  readonly rules: IgnoreRules;
  readonly depth: number;
  /** Undefined if it is too deep to be kept open. */
  readonly opened: Directory | undefined;
  readonly entries: readonly ListedEntry[];
  /** Index of the next entry to visit. */
  next: number;
}

/** Limit on the entries of one folder; others are left out, and counted. */
const MOST_ENTRIES = 250_000;
const BATCH = 256;
/** How many folders on the path are kept open; deeper ones are reached from the system's root. */
const MOST_OPEN = 64;
const DOT = 46;
const GIT = Buffer.from(".git");

/** Folders come before what is in them. */
export async function* walk(run: Run, wish: Wish): AsyncGenerator<Walked, void> {
  const slice = new TimeSlice();
  const chain: Folder[] = [];
  const enter = async (next: FolderToEnter) => {
    const folder = await entered(run, wish, next, slice);
    if (folder) chain.push(folder);
  };
  try {
    await enter(topOf(run));
    for (let folder = chain.at(-1); folder && !run.signal.aborted; folder = chain.at(-1)) {
      const { entries, below } = nextOf(folder, wish);
      if (entries.length > 0) yield { above: folder.above, entries };
      if (slice.isUp) await slice.rest();
      const next = below && folderBelow(run, folder, below);
      if (next) await enter(next);
      else if (folder.next >= folder.entries.length) {
        chain.pop();
        await folder.opened?.close();
      }
    }
  } finally {
    for (const { opened } of chain) await opened?.close();
  }
}

function topOf({ scope: { access, folder, above } }: Run): FolderToEnter {
  const rules = above ?? IgnoreRules.none;
  return { path: folder, above: "", rules, depth: 0, open: () => access.openFolder(folder, folder) };
}

/** Undefined if its name is not UTF-8, so that it cannot be opened by name. */
function folderBelow({ scope, missed }: Run, folder: Folder, name: Buffer): FolderToEnter | undefined {
  if (!isUtf8(name)) {
    missed.unreadable++;
    return undefined;
  }
  const { access } = scope;
  const text = name.toString("utf8");
  const path = access.platform.path.join(folder.path, text);
  return {
    path,
    above: `${folder.above}${text}/`,
    rules: folder.rules,
    depth: folder.depth + 1,
    async open() {
      access.checkCanonical(path);
      if (!folder.opened) return await access.openFolder(path, path);
      return await folder.opened.openFolder(name, (stat) => access.inspect(stat, path));
    },
  };
}

/** Up to the next folder, which comes last. */
function nextOf(folder: Folder, { deep }: Wish) {
  const { entries, next } = folder;
  let below: Buffer | undefined;
  while (!below && folder.next < Math.min(entries.length, next + BATCH)) {
    const entry = entries[folder.next++];
    if (deep && entry?.type === "directory") below = entry.name;
  }
  return { entries: entries.slice(next, folder.next), below };
}

async function entered(
  run: Run,
  { ordered }: Wish,
  next: FolderToEnter,
  slice: TimeSlice,
): Promise<Folder | undefined> {
  const { path, above, depth } = next;
  let opened: Directory | undefined;
  let staysOpen = false;
  try {
    opened = await next.open();
    const rules = run.scope.includeIgnored
      ? next.rules
      : next.rules.withThoseOf(opened, path, run.scope.access.platform.path.sep);
    const entries = await entriesOf(run, opened, leavingOut(run.scope, path, rules), slice);
    if (ordered) entries.sort((a, b) => Buffer.compare(a.name, b.name));
    staysOpen = depth < MOST_OPEN;
    return { path, above, rules, depth, opened: staysOpen ? opened : undefined, entries, next: 0 };
  } catch (error) {
    if (!(error instanceof MatrxError || isSystemError(error))) throw error;
    // Entries closed to the caller, or gone, do not count; those that the system refuses do.
    const code = systemCodeOf(error);
    if (code !== undefined && !GONE.includes(code)) run.missed.unreadable++;
    return undefined;
  } finally {
    if (!staysOpen) await opened?.close();
  }
}

async function entriesOf(run: Run, opened: Directory, leavesOut: LeavesOut, slice: TimeSlice) {
  const found: ListedEntry[] = [];
  for await (const some of listedEntries(opened.self, slice)) {
    for (const entry of some) {
      if (leavesOut(entry)) continue;
      if (found.length < MOST_ENTRIES) found.push(entry);
      else run.missed.crowded++;
    }
    if (run.signal.aborted) break;
  }
  return found;
}

type LeavesOut = (entry: ListedEntry) => boolean;

function leavingOut(scope: Scope, folder: string, rules: IgnoreRules): LeavesOut {
  const { showHidden, includeIgnored, leftOut } = scope;
  const { dirname, basename, join } = scope.access.platform.path;
  const { closesPaths } = scope.access;
  const isClosed = (path: string) => scope.access.isClosed(path);
  const closed = leftOut.filter((path) => dirname(path) === folder).map((path) => basename(path));
  return ({ name, type }) => {
    if (!showHidden && name[0] === DOT) return true;
    if (closed.length > 0 && closed.includes(textOfName(name))) return true;
    if (closesPaths && isClosed(join(folder, textOfName(name)))) return true;
    if (includeIgnored) return false;
    return name.equals(GIT) || rules.ignores(join(folder, textOfName(name)), type === "directory");
  };
}

const GONE = ["ENOENT", "ENOTDIR", "ELOOP"];
