/** Moves an entry to the system's trash: to a folder on the same file system, or by a program. */
import { lstat, mkdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { FileAccess } from "../fs/access.ts";
import { fileError, hasCode } from "../fs/errors.ts";
import type { OpenedEntry } from "../fs/file-handle.ts";
import { isWithin } from "../platform/path-syntax.ts";
import type { TrashFolder, TrashQuestion, TrashWay } from "../platform/platform.ts";
import { ProgramFailed, runProgram } from "../platform/run-program.ts";
import { toolName } from "../text/tool-names.ts";
import { type OpenedTrash, putIntoFolder } from "./trash-folder.ts";

/** Long, because the program may have to ask the desktop; in milliseconds. */
const PROGRAM_MS = 60_000;

/** Returns its new path; undefined if only a person can restore it. Throws MatrxError; then nothing was deleted. */
export async function putIntoTrash(
  access: FileAccess,
  entry: OpenedEntry,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { trash } = access.platform;
  if (trash.by === "program") return await byProgram(trash, entry, signal);
  // Of the folder: on overlay file systems a file may have the device number of a lower layer.
  const { dev } = await stat(entry.parent.self, { bigint: true });
  const question: TrashQuestion = {
    home: homedir(),
    env: process.env,
    user: process.getuid?.() ?? 0,
    top: await topOf(entry, dev),
  };
  const whyNot: string[] = [];
  for (const folder of trash.folders(question)) {
    const opened = await openTrash(access, entry, dev, folder).catch((error: unknown) => {
      whyNot.push(reasonOf(error));
      return undefined;
    });
    if (!opened) continue;
    try {
      if (isWithin(entry.place.path, opened.path, access.platform)) throw inTrash(entry);
      return await putIntoFolder(access.platform, entry, opened, folder);
    } catch (error) {
      if (!hasCode(error, "EXDEV")) throw fileError(error, entry.place.shown, "move to the trash");
      whyNot.push(reasonOf(error));
    } finally {
      await opened.directory.close();
    }
  }
  throw noTrash(entry, whyNot);
}

/** The mount point of an entry's file system. */
async function topOf({ place }: OpenedEntry, dev: bigint): Promise<string> {
  for (let folder = path.dirname(place.path); ; ) {
    const above = path.dirname(folder);
    if (above === folder || (await stat(above, { bigint: true })).dev !== dev) return folder;
    folder = above;
  }
}

/** Undefined if a shared trash is not set up as it must be. Throws if it is on another file system, or cannot be opened. */
async function openTrash(
  access: FileAccess,
  { place }: OpenedEntry,
  dev: bigint,
  { base, names, isShared }: TrashFolder,
): Promise<OpenedTrash | undefined> {
  const start = await realpath(base);
  if (isShared && !(await isSticky(path.join(start, names[0] ?? "")))) return undefined;
  if ((await stat(start, { bigint: true })).dev !== dev) throw otherFileSystem();
  let folder = start;
  let directory = await access.openFolder(start, place.shown);
  for (const name of names) {
    try {
      await mkdir(directory.at(name), 0o700).catch((error: unknown) => {
        if (!hasCode(error, "EEXIST")) throw error;
      });
      const below = await directory.openFolder(Buffer.from(name), (stat) =>
        access.inspect(stat, place.shown),
      );
      await directory.close();
      directory = below;
    } catch (error) {
      await directory.close();
      throw error;
    }
    folder = path.join(folder, name);
  }
  return { directory, path: folder };
}

async function isSticky(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  return found?.isDirectory() === true && (found.mode & 0o1000) !== 0;
}

async function byProgram(
  trash: Extract<TrashWay, { by: "program" }>,
  entry: OpenedEntry,
  signal: AbortSignal,
): Promise<undefined> {
  const { file, args } = trash.command(entry.place.path, entry.stat.isDirectory(), process.env);
  await entry.parent.confirm(entry.name, entry.stat);
  try {
    await runProgram(file, args, { timeoutMs: PROGRAM_MS, signal });
  } catch (error) {
    if (!(error instanceof ProgramFailed)) throw error;
    throw noTrash(entry, [reasonOf(error)]);
  }
}

function reasonOf(error: unknown): string {
  // The error's own message names the folder, which not every caller may know.
  if (error instanceof MatrxError) return "a link or a forbidden folder is in its place";
  if (error instanceof Error && "code" in error) return `${error.code}`;
  return error instanceof Error ? error.message : "unknown";
}

function otherFileSystem(): Error {
  return new Error("another file system");
}

function inTrash({ place }: OpenedEntry): MatrxError {
  return toolError("CONFLICT", `${place.shown} is already in the trash`, {
    hint: `Give permanent: true to delete it for good, or restore it with ${toolName("Move")}`,
    details: { path: place.shown },
  });
}

function noTrash({ place }: OpenedEntry, reasons: readonly string[]): MatrxError {
  return toolError(
    "TOOL_EXECUTION_FAILED",
    `No trash can be used for ${place.shown} (${reasons.join("; ") || "none is there"}); nothing was deleted`,
    {
      hint: "Give permanent: true to delete it for good, or move it to another folder",
      details: { path: place.shown, reasons },
    },
  );
}
