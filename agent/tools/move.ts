/** The tool that moves or renames a file or directory. */
import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import * as z from "zod";
import type { Preview } from "../core/preview.ts";
import type { Session } from "../core/sessions.ts";
import { defineTool, type PreviewContext, type ToolContext, type ToolResult } from "../core/tool.ts";
import { COMPARED_MAX_BYTES, fileDiff, textOfFile } from "../edit/file-diff.ts";
import type { FileAccess, Files, ResolvedPath } from "../fs/access.ts";
import { refuseClosedInside } from "../fs/closed-inside.ts";
import { explained } from "../fs/errors.ts";
import { type OpenedEntry, OpenedFile, openEntry } from "../fs/file-handle.ts";
import { inParents, syncFolder } from "../fs/make-folders.ts";
import { type Moved, moveEntry, refuseTaken } from "../fs/move.ts";
import { entryAt } from "../fs/write-file.ts";
import { isWithin, namesFolder } from "../platform/path-syntax.ts";
import { shownName } from "../text/display-name.ts";
import { forgetNote } from "../trash/trash-folder.ts";

const input = z.strictObject({
  source: z.string().min(1).describe("Absolute or relative path"),
  destination: z.string().min(1).describe("Its new path; with / at the end: the folder to move it into"),
  overwrite: z.boolean().optional().describe("Replace a file or symlink (default false)"),
  create_directories: z
    .boolean()
    .optional()
    .describe("Create missing parent directories of the destination (default true)"),
});

type Input = z.infer<typeof input>;

export function moveTool(files: Files) {
  return defineTool({
    name: "Move",
    family: "files",
    effect: "write",
    confinable: true,
    description:
      "Move or rename a file, folder or symlink. An existing file is replaced only with overwrite, a folder never.",
    details:
      "Works across file systems too (copies everything first; keeps mode, times and owner). Refuses an existing folder as destination unless its name ends with /. Moves a symlink itself. Also restores what `Delete` put into the trash.",
    input,
    model: { prompt: "Move or rename a file or directory", omit: ["create_directories"] },
    timeoutMs: TIMES.callMax,
    prepare({ source, destination }) {
      const { path } = files.platform;
      const into = namesFolder(destination, files.platform);
      const to = into ? path.join(destination, path.basename(path.resolve(source))) : destination;
      return {
        paths: [
          { path: source, intent: "remove", isEntry: true, isWhole: true },
          { path: to, intent: "write", isEntry: true },
        ],
      };
    },
    async preview(request, context) {
      const access = await files.as(context);
      const { from, to } = await findBoth(access, request);
      return await previewOf(access, from, to, request, context);
    },
    async handle(request, context) {
      const access = await files.as(context);
      const { from, to } = await findBoth(access, request);
      const [first = "", second] = [...new Set([from.path, to.path])].sort();
      const act = () => move(access, from, to, request, context);
      return await inParents(access, to, request.create_directories ?? true, () =>
        files.mutex.runExclusive(first, () => (second ? files.mutex.runExclusive(second, act) : act())),
      );
    },
  });
}

/** Throws MatrxError. */
async function findBoth(access: FileAccess, request: Input) {
  const from = await access.findExistingEntry(request.source, "remove");
  const to = await findDestination(access, from, request);
  refuseItself(access, from, to);
  return { from, to };
}

async function findDestination(
  access: FileAccess,
  from: ResolvedPath,
  { destination }: Input,
): Promise<ResolvedPath> {
  if (!namesFolder(destination, access.platform)) return await access.findEntry(destination, "write");
  const folder = await access.find(destination, "read");
  return await access.findEntry(access.platform.path.join(folder.path, access.parentOf(from).name), "write");
}

function refuseItself({ platform }: FileAccess, from: ResolvedPath, to: ResolvedPath): void {
  if (from.path === to.path && newNameOf(from, to, platform.path) === platform.path.basename(from.path)) {
    throw wrongDestination(to, `It is already at ${to.shown}`, "Name another destination");
  }
  if (from.path !== to.path && isWithin(to.path, from.path, platform)) {
    throw wrongDestination(to, `${from.shown} cannot be moved into itself`, "Name a destination outside it");
  }
}

/** The new name: as the caller spelt it, even if it already exists in another spelling. */
function newNameOf(from: ResolvedPath, to: ResolvedPath, path: FileAccess["platform"]["path"]): string {
  return path.basename(from.path === to.path ? to.named : to.path);
}

/** A replaced file is shown as the change of its content. */
async function previewOf(
  access: FileAccess,
  from: ResolvedPath,
  to: ResolvedPath,
  { overwrite = false }: Input,
  context: PreviewContext,
): Promise<Preview> {
  const source = await openEntry(access, from);
  try {
    await refuseClosedInside(access, source, context.signal, to.path);
  } finally {
    await source.parent.close();
  }
  const isReplaced = to.missing.length === 0 && from.path !== to.path;
  if (!isReplaced) return { summary: `Move ${from.shown} to ${to.shown}` };
  await using old = await OpenedFile.open(access, to);
  const stat = await lstat(old.path, { bigint: true });
  refuseTaken(access, source.stat, stat, to, overwrite);
  const warnings = [`${to.shown} is replaced, and not put into the trash`];
  const summary = `Move ${from.shown} to ${to.shown}, replacing what is there`;
  if (!source.stat.isFile() || !stat.isFile()) return { summary, warnings };
  const [before, after] = [await textAt(access, to, context), await textAt(access, from, context)];
  const diff = fileDiff({ from: to.shown, to: to.shown, before, after });
  return { summary, warnings, diff: diff.text, diffCut: diff.isCut };
}

/** Undefined if it is not text, or too large, or may not be read. */
async function textAt(
  access: FileAccess,
  place: ResolvedPath,
  { signal }: PreviewContext,
): Promise<string | undefined> {
  await using file = await OpenedFile.open(access, place);
  const stat = await file.existing();
  if (stat.size > COMPARED_MAX_BYTES) return undefined;
  return textOfFile(await file.read(stat, signal));
}

async function move(
  access: FileAccess,
  from: ResolvedPath,
  to: ResolvedPath,
  request: Input,
  { session, signal, approved }: ToolContext,
): Promise<ToolResult> {
  const source = await openEntry(access, from);
  try {
    approved?.check(from.path, from.shown, source.stat);
    await using parent = await access.openFolder(access.parentOf(to).folder, to.shown);
    const name = newNameOf(from, to, access.platform.path);
    const path = access.platform.path.join(access.parentOf(to).folder, name);
    await refuseClosedInside(access, source, signal, path);
    if (approved && from.path !== to.path) approved.check(to.path, to.shown, await entryAt(parent, name));
    const moved = await explained(to.shown, "move it to", () =>
      moveEntry(access, source, { parent, name }, to, request.overwrite ?? false, signal),
    );
    await syncFolder(parent.self);
    await syncFolder(source.parent.self);
    followFolder(session, from.path, path, access);
    await followSeen(session, source, path, () => lstat(parent.at(name), { bigint: true }));
    await forgetNote(access, from.path);
    return resultOf(source, { ...to, path }, moved);
  } finally {
    await source.parent.close();
  }
}

/** A session follows when its working directory is moved. */
function followFolder(session: Session, from: string, to: string, { platform }: FileAccess): void {
  const { relative, join } = platform.path;
  if (isWithin(session.cwd, from, platform)) session.cwd = join(to, relative(from, session.cwd));
}

/** The session still knows the file under its new name, although a copy is a different file to the system. */
async function followSeen(
  session: Session,
  { place, stat }: OpenedEntry,
  to: string,
  look: () => Promise<BigIntStats>,
): Promise<void> {
  const seen = session.seen(place.path);
  if (!seen) return;
  const isAsSeen = seen.stat.mtimeNs === stat.mtimeNs && seen.stat.size === stat.size;
  session.noteSeen(to, isAsSeen ? { ...seen, stat: await look() } : seen);
}

function resultOf({ place, stat }: OpenedEntry, to: ResolvedPath, { overwrote, copied }: Moved): ToolResult {
  const replaced = overwrote ? ", replacing what was there" : "";
  const how = copied ? ` (${copied.bytes} bytes, copied to another file system)` : "";
  return {
    output: `Moved ${place.shown} to ${shownName(to.path)}${replaced}${how}`,
    metadata: {
      source: place.path,
      destination: to.path,
      type: stat.isDirectory() ? "directory" : stat.isSymbolicLink() ? "symlink" : "file",
      overwrote,
      ...(copied && { copied_entries: copied.entries, copied_bytes: copied.bytes }),
    },
  };
}

function wrongDestination(to: ResolvedPath, message: string, hint: string): MatrxError {
  return toolError("INVALID_PARAMETERS", message, {
    hint,
    details: { field: "destination", path: to.shown },
  });
}
