/** Walks folders, each opened relative to its parent's descriptor; follows no links. */
import { isUtf8 } from "node:buffer";
import { MatrxError } from "@matrx/shared/errors.ts";
import { textOfName } from "../fs/display-name.ts";
import { isSystemError } from "../fs/errors.ts";
import type { Directory } from "../platform/directory.ts";
import type { Run } from "./engine.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import { type ListedEntry, listedEntries } from "./listed-entries.ts";
import type { Scope } from "./scope.ts";
import { TimeSlice } from "./time-slice.ts";

/** Some entries of one folder. */
export interface Walked {
  /** What stands before their names in a path relative to the scope's folder: empty, or with `/` at its end. */
  readonly above: string;
  readonly entries: readonly ListedEntry[];
}

export interface Wish {
  /** False: only the folder itself. */
  readonly deep: boolean;
  /** By path, name by name, in order of bytes; else in any order. */
  readonly ordered: boolean;
}

/** A folder to enter. */
interface Step {
  /** Canonical. */
  readonly place: string;
  readonly above: string;
  /** Of the folder that it stands in. */
  readonly rules: IgnoreRules;
  readonly depth: number;
  open(): Promise<Directory>;
}

interface Folder {
  readonly place: string;
  readonly above: string;
  readonly rules: IgnoreRules;
  readonly depth: number;
  /** Undefined if it is too deep to be kept open. */
  readonly opened: Directory | undefined;
  readonly entries: readonly ListedEntry[];
  /** Index of the next entry to visit. */
  next: number;
}

/** Entries of one folder; those beyond are left out, and counted. */
const MOST_ENTRIES = 250_000;
const BATCH = 256;
/** How many folders on the way are kept open; deeper ones are reached from the system's root. */
const MOST_HELD = 64;
const DOT = 46;
const GIT = Buffer.from(".git");

/** Folders come before what is in them. */
export async function* walk(run: Run, wish: Wish): AsyncGenerator<Walked, void> {
  const slice = new TimeSlice();
  const way: Folder[] = [];
  const enter = async (step: Step) => {
    const folder = await entered(run, wish, step, slice);
    if (folder) way.push(folder);
  };
  try {
    await enter(topOf(run));
    for (let folder = way.at(-1); folder && !run.signal.aborted; folder = way.at(-1)) {
      const { entries, below } = nextOf(folder, wish);
      if (entries.length > 0) yield { above: folder.above, entries };
      if (slice.isUp) await slice.rest();
      const step = below && stepBelow(run, folder, below);
      if (step) await enter(step);
      else if (folder.next >= folder.entries.length) {
        way.pop();
        await folder.opened?.close();
      }
    }
  } finally {
    for (const { opened } of way) await opened?.close();
  }
}

function topOf({ scope: { access, folder, above } }: Run): Step {
  const rules = above ?? IgnoreRules.none;
  return { place: folder, above: "", rules, depth: 0, open: () => access.openFolder(folder, folder) };
}

/** Undefined if its name is not UTF-8, so that it cannot be opened by name. */
function stepBelow({ scope, missed }: Run, folder: Folder, name: Buffer): Step | undefined {
  if (!isUtf8(name)) {
    missed.unreadable++;
    return undefined;
  }
  const { access } = scope;
  const text = name.toString("utf8");
  const place = access.platform.path.join(folder.place, text);
  return {
    place,
    above: `${folder.above}${text}/`,
    rules: folder.rules,
    depth: folder.depth + 1,
    async open() {
      access.checkCanonical(place);
      if (!folder.opened) return await access.openFolder(place, place);
      return await folder.opened.openFolder(name, (stat) => access.inspect(stat, place));
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
  step: Step,
  slice: TimeSlice,
): Promise<Folder | undefined> {
  const { place, above, depth } = step;
  let opened: Directory | undefined;
  let isHeld = false;
  try {
    opened = await step.open();
    const rules = run.scope.includeIgnored
      ? step.rules
      : step.rules.withThoseOf(opened, place, run.scope.access.platform.path.sep);
    const entries = await entriesOf(run, opened, leavingOut(run.scope, place, rules), slice);
    if (ordered) entries.sort((a, b) => Buffer.compare(a.name, b.name));
    isHeld = depth < MOST_HELD;
    return { place, above, rules, depth, opened: isHeld ? opened : undefined, entries, next: 0 };
  } catch (error) {
    if (!(error instanceof MatrxError || isSystemError(error))) throw error;
    if (isMissed(error)) run.missed.unreadable++;
    return undefined;
  } finally {
    if (!isHeld) await opened?.close();
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

function leavingOut(scope: Scope, place: string, rules: IgnoreRules): LeavesOut {
  const { showHidden, includeIgnored, leftOut } = scope;
  const { dirname, basename, join } = scope.access.platform.path;
  const closed = leftOut.filter((path) => dirname(path) === place).map((path) => basename(path));
  return ({ name, type }) => {
    if (!showHidden && name[0] === DOT) return true;
    if (closed.length > 0 && closed.includes(textOfName(name))) return true;
    if (includeIgnored) return false;
    return name.equals(GIT) || rules.ignores(join(place, textOfName(name)), type === "directory");
  };
}

/** Entries closed to the caller, or gone, do not count; those that the system refuses do. */
function isMissed(error: Error): boolean {
  const code = isSystemError(error) ? error.code : error instanceof MatrxError && error.details?.system_code;
  return typeof code === "string" && !GONE.includes(code);
}

const GONE = ["ENOENT", "ENOTDIR", "ELOOP"];
