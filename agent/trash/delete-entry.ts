/** Deletes an entry: to the trash, or for good. */
import type { BigIntStats } from "node:fs";
import { opendir } from "node:fs/promises";
import { MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { Preview } from "../core/preview.ts";
import type { PreviewContext, ToolContext, ToolResult } from "../core/tool.ts";
import type { FileAccess, Files } from "../fs/access.ts";
import { refuseClosedInside } from "../fs/closed-inside.ts";
import { explained } from "../fs/errors.ts";
import { type OpenedEntry, openEntry } from "../fs/file-handle.ts";
import { syncFolder } from "../fs/make-folders.ts";
import { newRemoval, removeTree } from "../fs/remove-tree.ts";
import { type TreeFacts, treeFactsOf } from "../fs/tree-facts.ts";
import { isWithin } from "../platform/path-syntax.ts";
import { counted } from "../text/counted.ts";
import { shownName } from "../text/display-name.ts";
import { toolName } from "../text/tool-names.ts";
import { putIntoTrash } from "./trash.ts";
import { forgetNote } from "./trash-folder.ts";

export interface Deletion {
  readonly path: string;
  readonly recursive: boolean;
  readonly permanent: boolean;
  /** Throws to refuse an entry of the wrong type. */
  readonly check: (entry: OpenedEntry) => void;
}

/** What would be deleted. Throws MatrxError. */
export async function deletionPreview(
  files: Files,
  request: Deletion,
  context: PreviewContext,
): Promise<Preview> {
  const access = await files.as(context);
  const entry = await openChecked(access, request, context);
  const { place, parent, name, stat } = entry;
  try {
    const how = request.permanent ? "for good" : "by moving it to the trash";
    const summary = `Delete ${place.shown} ${how}`;
    if (!stat.isDirectory()) return { summary: `${summary} (${kindAndSize(stat)})` };
    const inspect = (found: BigIntStats) => access.inspect(found, place.shown);
    const facts = await explained(place.shown, "look into", () =>
      treeFactsOf(parent, name, { inspect, signal: context.signal }),
    );
    return {
      summary: `${summary}: a folder with ${countsOf(facts)}`,
      warnings: facts.names.length > 0 ? [`In it: ${namesOf(facts)}`] : [],
      bound: { [`what is in ${place.shown}`]: facts.digest },
    };
  } finally {
    await parent.close();
  }
}

function kindAndSize(stat: BigIntStats): string {
  return stat.isSymbolicLink() ? "a symlink, not its target" : counted(Number(stat.size), "byte");
}

function countsOf({ files, folders, bytes, isCut }: TreeFacts): string {
  const counts = `${counted(files, "file")} and ${counted(folders, "folder")}, ${counted(bytes, "byte")}`;
  return isCut ? `more than ${counts}` : counts;
}

function namesOf({ names, files, folders }: TreeFacts): string {
  return names.join(", ") + (files + folders > names.length ? " and more" : "");
}

/** The entry to delete; close its parent. Throws MatrxError if it must not be deleted. */
async function openChecked(
  access: FileAccess,
  request: Deletion,
  { session, signal }: PreviewContext,
): Promise<OpenedEntry> {
  const entry = await openEntry(access, await access.findExistingEntry(request.path, "remove"));
  try {
    request.check(entry);
    refuseCwd(access, entry, session.cwd);
    await refuseClosedInside(access, entry, signal);
    if (entry.stat.isDirectory() && !request.recursive) await refuseNotEmpty(access, entry);
    return entry;
  } catch (error) {
    await entry.parent.close();
    throw error;
  }
}

/** Throws MatrxError. */
export async function deleteEntry(
  files: Files,
  request: Deletion,
  context: ToolContext,
): Promise<ToolResult> {
  const access = await files.as(context);
  const place = await access.findExistingEntry(request.path, "remove");
  return await files.mutex.runExclusive(place.path, async () => {
    const entry = await openChecked(access, request, context);
    try {
      context.approved?.check(entry.place.path, place.shown, entry.stat);
      context.signal.throwIfAborted();
      if (request.permanent) return await forGood(access, entry, context.signal);
      return await intoTrash(access, entry, context.signal);
    } finally {
      await entry.parent.close();
    }
  });
}

async function forGood(access: FileAccess, entry: OpenedEntry, signal: AbortSignal): Promise<ToolResult> {
  const { place, parent, name, stat } = entry;
  const removal = newRemoval({ inspect: (found) => access.inspect(found, place.shown), signal });
  try {
    await explained(place.shown, "delete", async () => {
      await parent.confirm(name, stat);
      await removeTree(parent, Buffer.from(name), removal);
    });
  } catch (error) {
    throw removal.removed > 0 && error instanceof MatrxError ? inPart(error, entry, removal.removed) : error;
  }
  await syncFolder(parent.self);
  await forgetNote(access, place.path);
  const more = removal.removed > 1 ? `, ${removal.removed} entries in all` : "";
  return {
    output: `Deleted ${place.shown} for good${more}`,
    metadata: { ...factsOf(entry), permanent: true, removed: removal.removed },
  };
}

async function intoTrash(access: FileAccess, entry: OpenedEntry, signal: AbortSignal): Promise<ToolResult> {
  const path = await putIntoTrash(access, entry, signal);
  // Callers who may not look there are not told where it is.
  const isTold = path !== undefined && (await access.mayRead(path));
  return {
    output: `Moved ${entry.place.shown} to the trash. ${howToRestore(path, isTold)}`,
    metadata: { ...factsOf(entry), permanent: false, ...(isTold && { trash_path: path }) },
  };
}

function howToRestore(path: string | undefined, isTold: boolean): string {
  if (path === undefined) return "A person can restore it from the recycle bin.";
  if (!isTold) return "The owner of the device can restore it.";
  return `It is now at ${shownName(path)}; ${toolName("Move")} can restore it.`;
}

function factsOf({ place, stat }: OpenedEntry) {
  const type = stat.isDirectory() ? "directory" : stat.isSymbolicLink() ? "symlink" : "file";
  return { deleted_path: place.path, type };
}

function refuseCwd({ platform }: FileAccess, { place, stat }: OpenedEntry, cwd: string): void {
  if (!stat.isDirectory() || !isWithin(cwd, place.path, platform)) return;
  throw toolError(
    "CONFLICT",
    `${place.shown} was not deleted: it contains the session's working directory, ${shownName(cwd)}`,
    {
      hint: `Change directory first with ${toolName("Bash")}: cd /somewhere`,
      details: { path: place.shown, cwd },
    },
  );
}

async function refuseNotEmpty(access: FileAccess, { place, parent, name }: OpenedEntry): Promise<void> {
  const inspect = (stat: OpenedEntry["stat"]) => access.inspect(stat, place.shown);
  await explained(place.shown, "look into", async () => {
    await using folder = await parent.openFolder(Buffer.from(name), inspect);
    for await (const _ of await opendir(folder.self)) throw notEmpty(place.shown);
  });
}

function notEmpty(shown: string): MatrxError {
  return toolError("CONFLICT", `${shown} is not empty; nothing was deleted`, {
    hint: `Look into it with ${toolName("ListDirectory")}; give recursive: true to delete everything in it too`,
    details: { path: shown },
  });
}

function inPart(error: MatrxError, { place }: OpenedEntry, removed: number): MatrxError {
  return new MatrxError(
    {
      ...error.shape(),
      message: `${error.message}. ${removed} entries of ${place.shown} were deleted before that`,
      details: { ...error.details, path: place.shown, removed },
    },
    error,
  );
}
