/** Removes an entry with everything in it. Links are removed, never followed; each folder is reached by its descriptor. */
import type { BigIntStats } from "node:fs";
import { lstat, opendir, rmdir, unlink } from "node:fs/promises";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { Directory } from "../platform/directory.ts";
import { toolName } from "../text/tool-names.ts";
import { hasCode } from "./errors.ts";
import { AS_BYTES } from "./list-folder.ts";

export interface Removal {
  /** Throws to refuse a folder. */
  readonly inspect: (stat: BigIntStats) => void;
  /** Returns false for an entry that must stay. */
  readonly mayGo: (stat: BigIntStats) => boolean;
  /** Called for each folder before it is emptied. */
  readonly prepare?: (folder: Directory) => Promise<void>;
  readonly signal: AbortSignal;
  /** The file system of the first folder: file systems mounted inside it are not entered. */
  device?: bigint;
  /** Entries removed. */
  removed: number;
  /** Entries kept. */
  kept: number;
}

export function newRemoval(options: Pick<Removal, "inspect" | "signal"> & Partial<Removal>): Removal {
  return { mayGo: () => true, removed: 0, kept: 0, ...options };
}

/** Nesting is bounded because each level keeps a descriptor open. */
export const MOST_DEPTH = 400;

/** Returns whether it is gone. Throws the system's error; what was removed until then stays removed. */
export async function removeTree(
  parent: Directory,
  name: Buffer,
  removal: Removal,
  depth = 0,
): Promise<boolean> {
  removal.signal.throwIfAborted();
  const path = parent.entry(name);
  const stat = await statOf(path);
  if (!stat) return true;
  if (stat.isDirectory()) {
    if (depth >= MOST_DEPTH) throw tooDeepError();
    if (!(await emptyFolder(parent, name, stat, removal, depth)) || !removal.mayGo(stat))
      return stays(removal);
    await rmdir(path);
  } else {
    if (!removal.mayGo(stat)) return stays(removal);
    await unlink(path).catch((error: unknown) => {
      if (!hasCode(error, "ENOENT")) throw error;
    });
  }
  removal.removed++;
  return true;
}

function stays(removal: Removal): false {
  removal.kept++;
  return false;
}

async function emptyFolder(
  parent: Directory,
  name: Buffer,
  stat: BigIntStats,
  removal: Removal,
  depth: number,
): Promise<boolean> {
  removal.device ??= stat.dev;
  await using folder = await parent.openFolder(name, (found) => {
    removal.inspect(found);
    if (found.dev !== removal.device) throw anotherFileSystem();
  });
  await removal.prepare?.(folder);
  for (;;) {
    const before = removal.removed;
    let isEmpty = true;
    for await (const entry of await opendir(folder.self, AS_BYTES)) {
      const bytes = entry.name as unknown as Buffer;
      if (!(await removeTree(folder, bytes, removal, depth + 1))) isEmpty = false;
    }
    // The listing may skip entries because others were removed while reading it; the next round finds them.
    if (!isEmpty || removal.removed === before) return isEmpty;
  }
}

async function statOf(path: Buffer): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

function anotherFileSystem(): MatrxError {
  return toolError("PERMISSION_DENIED", "Another file system is mounted in the folder", {
    hint: "Name the entries in it one by one",
  });
}

export function tooDeepError(): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `The folder is nested more than ${MOST_DEPTH} levels deep`, {
    hint: `Use ${toolName("Bash")}: rm or mv`,
    details: { limit: MOST_DEPTH },
  });
}
