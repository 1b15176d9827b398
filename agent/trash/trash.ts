/** Puts an entry into the trash of this system: a folder of it on the same file system, or a program that does it. */
import { lstat, mkdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { MatrxError, toolError } from "@matrx/shared/errors.ts";
import { toolName } from "../core/tool-names.ts";
import type { FileAccess } from "../fs/access.ts";
import { fileError, hasCode } from "../fs/errors.ts";
import type { OpenedEntry } from "../fs/file-handle.ts";
import { isWithin } from "../fs/path-syntax.ts";
import type { TrashFolder, TrashQuestion, TrashWay } from "../platform/platform.ts";
import { ProgramFailed, runProgram } from "../platform/run-program.ts";
import { type HeldTrash, putIntoFolder } from "./trash-folder.ts";

export interface Trashed {
  /** Where it lies now; undefined: only a person can bring it back. */
  readonly path: string | undefined;
}

/** A program may have to ask the desktop, in milliseconds. */
const PROGRAM_MS = 60_000;

/** Throws MatrxError; nothing was deleted then. */
export async function putIntoTrash(
  access: FileAccess,
  entry: OpenedEntry,
  signal: AbortSignal,
): Promise<Trashed> {
  const { trash } = access.platform;
  if (trash.by === "program") return await byProgram(trash, entry, signal);
  // A file's own number may be that of a layer below; its folder's tells where it can be renamed to.
  const { dev } = await stat(entry.parent.self, { bigint: true });
  const question: TrashQuestion = {
    home: homedir(),
    env: process.env,
    user: process.getuid?.() ?? 0,
    top: await topOf(entry, dev),
  };
  const whyNot: string[] = [];
  for (const folder of trash.folders(question)) {
    const held = await openTrash(access, entry, dev, folder).catch((error: unknown) => {
      whyNot.push(reasonOf(error));
      return undefined;
    });
    if (!held) continue;
    try {
      if (isWithin(entry.place.path, held.path, access.platform)) throw inTrash(entry);
      return { path: await putIntoFolder(access.platform, entry, held, folder) };
    } catch (error) {
      if (!hasCode(error, "EXDEV")) throw fileError(error, entry.place.shown, "move to the trash");
      whyNot.push(reasonOf(error));
    } finally {
      await held.directory.close();
    }
  }
  throw noTrash(entry, whyNot);
}

/** Where the file system of an entry is mounted. */
async function topOf({ place }: OpenedEntry, dev: bigint): Promise<string> {
  for (let folder = path.dirname(place.path); ; ) {
    const above = path.dirname(folder);
    if (above === folder || (await stat(above, { bigint: true })).dev !== dev) return folder;
    folder = above;
  }
}

/** Undefined: it is not to be used for this entry. */
async function openTrash(
  access: FileAccess,
  { place }: OpenedEntry,
  dev: bigint,
  { base, names, isShared }: TrashFolder,
): Promise<HeldTrash | undefined> {
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
): Promise<Trashed> {
  const { file, args } = trash.command(entry.place.path, entry.stat.isDirectory(), process.env);
  await entry.parent.confirm(entry.name, entry.stat);
  try {
    await runProgram(file, args, { timeoutMs: PROGRAM_MS, signal });
  } catch (error) {
    if (!(error instanceof ProgramFailed)) throw error;
    throw noTrash(entry, [reasonOf(error)]);
  }
  return { path: undefined };
}

function reasonOf(error: unknown): string {
  // Its own words name the folder, which not every caller may know.
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
