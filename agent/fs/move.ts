/** Moves an entry, also to another file system, and explains why it cannot. */
import { randomBytes } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { chmod, lstat, unlink } from "node:fs/promises";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { toolName } from "../text/tool-names.ts";
import type { FileAccess, ResolvedPath } from "./access.ts";
import { type Copying, changedMeanwhileError, copyTree, stateOf } from "./copy-tree.ts";
import { hasCode } from "./errors.ts";
import type { OpenedEntry } from "./file-handle.ts";
import { newRemoval, type Removal, removeTree } from "./remove-tree.ts";
import { type Destination, renameNoReplace, renameReplace } from "./rename.ts";
import { entryAt } from "./write-file.ts";

export interface Moved {
  readonly overwrote: boolean;
  /** Set if it moved to another file system. */
  readonly copied?: Copied;
}

interface Copied {
  readonly entries: number;
  /** Bytes of all files. */
  readonly bytes: number;
}

/** Throws MatrxError if the destination is taken, otherwise the system's error. */
export async function moveEntry(
  access: FileAccess,
  source: OpenedEntry,
  destination: Destination,
  to: ResolvedPath,
  overwrite: boolean,
  signal: AbortSignal,
): Promise<Moved> {
  const old = await entryAt(destination.parent, destination.name);
  if (old && isSame(old, source.stat)) return await respell(source, destination, to, overwrite);
  if (old) refuseTaken(access, source.stat, old, to, overwrite);
  signal.throwIfAborted();
  const overwrote = old !== undefined;
  try {
    await (old ? renameReplace(source, destination) : renameNoReplace(source, destination, access.platform));
    return { overwrote };
  } catch (error) {
    if (hasCode(error, "EEXIST", "ENOTEMPTY")) throw taken(to.shown, "Another program just created it");
    if (!hasCode(error, "EXDEV")) throw error;
  }
  try {
    return { overwrote, copied: await moveAcrossDevices(access, source, destination, overwrote, signal) };
  } catch (error) {
    if (hasCode(error, "EEXIST", "ENOTEMPTY")) throw taken(to.shown, "Another program just created it");
    throw error;
  }
}

/** Renames between two spellings of the same entry, or two hard links to one file. */
async function respell(
  source: OpenedEntry,
  destination: Destination,
  to: ResolvedPath,
  overwrite: boolean,
): Promise<Moved> {
  if (source.stat.isDirectory() || source.stat.nlink === 1n) {
    await renameReplace(source, destination);
    return { overwrote: false };
  }
  if (!overwrite)
    throw taken(to.shown, "It is another name for the same file; give overwrite to keep only that name");
  // Renaming one hard link onto another does nothing.
  await source.parent.confirm(source.name, source.stat);
  await unlink(source.parent.at(source.name));
  return { overwrote: true };
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

/** Throws MatrxError unless what is at the destination may be replaced. */
export function refuseTaken(
  access: FileAccess,
  source: BigIntStats,
  old: BigIntStats,
  to: ResolvedPath,
  overwrite: boolean,
): void {
  access.inspect(old, to.shown);
  if (old.isDirectory()) {
    const { sep } = access.platform.path;
    throw taken(to.shown, `It is a folder; to move something into it, write ${to.shown}${sep}`);
  }
  if (!overwrite) throw taken(to.shown, "Choose another name, or give overwrite: true to replace it");
  if (source.isDirectory()) throw taken(to.shown, "A folder can't replace a file; delete the file first");
}

/** Copies, then removes the source. If it throws, everything is as before, unless the error says otherwise. `replaces`: whether the destination has a file. */
async function moveAcrossDevices(
  access: FileAccess,
  source: OpenedEntry,
  destination: Destination,
  replaces: boolean,
  signal: AbortSignal,
): Promise<Copied> {
  const inspect = (stat: OpenedEntry["stat"]) => access.inspect(stat, source.place.shown);
  const copying: Copying = { inspect, signal, copied: new Set(), bytes: 0 };
  const name = `.matrx-${randomBytes(8).toString("hex")}.tmp`;
  try {
    await copyTree(source.parent, Buffer.from(source.name), destination.parent, Buffer.from(name), copying);
    signal.throwIfAborted();
    const stat = await lstat(destination.parent.at(name), { bigint: true });
    const copy: OpenedEntry = { place: source.place, parent: destination.parent, name, stat };
    await (replaces ? renameReplace(copy, destination) : renameNoReplace(copy, destination, access.platform));
  } catch (error) {
    await removeTree(destination.parent, Buffer.from(name), ofCopy());
    throw error;
  }
  const removal = newRemoval({
    inspect,
    signal: NEVER,
    // Whatever was written meanwhile was not copied, and stays.
    mayGo: (stat) => copying.copied.has(stateOf(stat)),
  });
  const cause = await removeTree(source.parent, Buffer.from(source.name), removal).then(
    (gone) => (gone ? undefined : changedMeanwhileError()),
    (error: unknown) => error,
  );
  if (cause === undefined) return { entries: copying.copied.size, bytes: copying.bytes };
  if (removal.removed > 0 || replaces) throw sourceLeft(source, removal, cause);
  await removeTree(destination.parent, Buffer.from(destination.name), ofCopy());
  throw cause;
}

const NEVER = new AbortController().signal;

/** Folders of the copy may already be read-only, like those of the source. */
function ofCopy(): Removal {
  return newRemoval({
    inspect: () => undefined,
    prepare: (folder) => chmod(folder.self, 0o700),
    signal: NEVER,
  });
}

function sourceLeft({ place }: OpenedEntry, { removed, kept }: Removal, cause: unknown): MatrxError {
  return toolError(
    "TOOL_EXECUTION_FAILED",
    `The copy is complete, but not all of ${place.shown} could be removed (${removed} entries were)`,
    {
      hint: `Look with ${toolName("ListDirectory")} at what is left there, and delete what the copy has too`,
      details: { path: place.shown, removed, changed: kept },
      cause,
    },
  );
}

function taken(shown: string, hint: string): MatrxError {
  return toolError("CONFLICT", `${shown} already exists; nothing was moved`, {
    hint,
    details: { path: shown },
  });
}
