/** Turns a patch into the bytes that each file will have. Changes nothing. */
import { hash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { PathNeed } from "../core/gate.ts";
import type { FileAccess, ResolvedPath } from "../fs/access.ts";
import type { OpenedFile } from "../fs/file-handle.ts";
import { type Before, existsError } from "../fs/transaction.ts";
import { isAbsolute } from "../platform/path-syntax.ts";
import type { Platform } from "../platform/platform.ts";
import { isNotebookPath } from "../read/notebook.ts";
import { toolName } from "../text/tool-names.ts";
import { applyHunks } from "./apply-hunks.ts";
import { readMarkedPatch } from "./begin-patch-format.ts";
import { changedFile, checkNotebook } from "./changed-file.ts";
import { checkEditSize, editableText, type UnitText } from "./code-units.ts";
import { noChangeError, refused, type Subject } from "./errors.ts";
import { type ShownDiff, shownDiff } from "./line-diff.ts";
import { type Line, linesOf, withPlainEnds } from "./line-ends.ts";
import { BEGIN, badPatchError, type FilePatch, type Hunk, textOf, USUAL_MODE } from "./patch-types.ts";
import { readUnifiedDiff } from "./unified-format.ts";

/** Throws MatrxError `INVALID_PARAMETERS`. */
export function parsePatch(patch: string): FilePatch[] {
  if (!patch.isWellFormed()) throw badPatchError("it contains half a character");
  const lines = patchLines(withoutCommand(patch));
  const first = lines.find(({ text }) => text.trim() !== "");
  const files = first?.text.trimStart().startsWith(BEGIN) ? readMarkedPatch(lines) : readUnifiedDiff(lines);
  if (files.length === 0) throw badPatchError("it contains no changes");
  return files;
}

/** A shell command around the patch: `apply_patch <<'EOF'`, lines, `EOF`. */
const COMMAND = /^\s*apply_?patch\s*<<-?\s*(["']?)(\w+)\1[ \t]*\r?\n(.*\n)\2\s*$/s;

function withoutCommand(patch: string): string {
  return COMMAND.exec(patch)?.[3] ?? patch;
}

/** Lines of the patch format itself, not of a file. */
const HEADER = /^(?:\*\*\* |--- |\+\+\+ |@@|diff --git )/;

/** A carriage return belongs to the file's line, unless the whole patch has CRLF line ends. */
function patchLines(patch: string): Line[] {
  const lines = linesOf(patch);
  const isOwn = lines.find(({ text }) => HEADER.test(text))?.end === "\r\n";
  const all = isOwn ? linesOf(withPlainEnds(patch)) : lines;
  // No line follows the last line end.
  return all.at(-1)?.text === "" ? all.slice(0, -1) : all;
}

export type Prepared =
  | { readonly kind: "add"; readonly place: ResolvedPath; readonly bytes: Buffer; readonly mode: number }
  | { readonly kind: "delete"; readonly file: OpenedFile; readonly before: Before }
  | {
      readonly kind: "update";
      readonly file: OpenedFile;
      readonly before: Before;
      readonly to: ResolvedPath | undefined;
      readonly bytes: Buffer;
      readonly diff: ShownDiff | undefined;
      /** Whether it can be run as a program then; undefined if that stays. */
      readonly isProgram: boolean | undefined;
    };

/** Reads a file. Throws MatrxError if it is too large. */
export async function readBefore(file: OpenedFile, signal: AbortSignal): Promise<Before> {
  const entry = await lstat(file.path).catch(() => undefined);
  if (entry?.isSymbolicLink()) throw linkError(file.place.shown);
  const stat = await file.existing();
  checkEditSize(stat.size, file.place.shown);
  return { stat, bytes: await file.read(stat, signal) };
}

/** A new file. Throws MatrxError if it would be a broken notebook. */
export function prepareNew(
  { place, content, mode }: Extract<FoundPatch, { kind: "add" }>,
  mayQuote: boolean,
): Prepared {
  const bytes = Buffer.from(content);
  if (isNotebookPath(place.path)) checkNotebook(undefined, bytes, { shown: place.shown, mayQuote });
  return { kind: "add", place, bytes, mode };
}

/** What an existing file becomes. Throws MatrxError if the patch does not match. */
export function prepare(
  found: Exclude<FoundPatch, { kind: "add" }>,
  file: OpenedFile,
  before: Before,
  mayQuote: boolean,
): Prepared {
  const subject = { shown: found.place.shown, mayQuote };
  if (found.hunks === undefined) return { kind: "delete", file, before };
  const isProgram = found.kind === "update" ? newRight(found.isProgram, before) : undefined;
  const isMore = found.kind === "update" && (found.to !== undefined || found.mayStay);
  if (found.kind === "update" && found.hunks.length === 0) {
    if (!isMore) throw noChangeError(subject);
    const { bytes } = before;
    return { kind: "update", file, before, to: found.to, bytes, diff: undefined, isProgram };
  }
  const { hunks } = found;
  const find = (text: UnitText) => applyHunks(text, hunks, subject);
  if (found.kind === "delete") {
    if (find(editableText(before.bytes, undefined, subject.shown)).units !== "") throw notAll(subject);
    return { kind: "delete", file, before };
  }
  const wanted = hunks.map(oldTextOf);
  const { text, edited, bytes } = changedFile(before.bytes, found.place.path, { find, wanted }, subject);
  if (bytes.equals(before.bytes) && !isMore) throw noChangeError(subject);
  return {
    ...{ kind: "update", file, before, to: found.to, bytes },
    ...{ diff: shownDiff(text, edited.units), isProgram },
  };
}

const EXECUTE_BITS = 0o111n;

/** Undefined if it is so already. */
function newRight(isProgram: boolean | undefined, { stat }: Before): boolean | undefined {
  return isProgram === ((stat.mode & EXECUTE_BITS) !== 0n) ? undefined : isProgram;
}

function linkError(shown: string): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `${shown} is a symbolic link, not a file. Nothing was changed`, {
    hint: `Use ${toolName("Delete")} or ${toolName("Move")} for the link itself, or name the file that it leads to`,
    details: { path: shown, reason: "link" },
  });
}

function oldTextOf({ lines }: Hunk): string {
  return lines
    .filter(({ kind }) => kind !== "new")
    .map(({ text }) => text)
    .join("\n");
}

/** Metadata of a changed file. */
export function factsOf(change: Prepared): Record<string, unknown> {
  if (change.kind === "add") {
    return { path: change.place.path, action: "added", ...contentFacts(change.bytes) };
  }
  const { path } = change.file.place;
  const before = { sha256_before: hash("sha256", change.before.bytes) };
  if (change.kind === "delete") return { path, action: "deleted", ...before };
  const lines = change.diff?.added !== undefined && {
    lines_added: change.diff.added,
    lines_removed: change.diff.removed,
  };
  const right = change.isProgram !== undefined && { executable: change.isProgram };
  const facts = { ...before, ...contentFacts(change.bytes), ...lines, ...right };
  return change.to
    ? { path: change.to.path, action: "moved", from: path, ...facts }
    : { path, action: "updated", ...facts };
}

function contentFacts(bytes: Buffer) {
  return { bytes: bytes.length, sha256: hash("sha256", bytes) };
}

function notAll(subject: Subject): MatrxError {
  return refused(
    subject,
    "not_all",
    `The patch deletes ${subject.shown}, but does not list all its content. Nothing was changed`,
    'Delete it with "*** Delete File: PATH", which needs no content',
  );
}

/** A file patch with its paths resolved; the caller may change them. */
export type FoundPatch =
  | { readonly kind: "add"; readonly place: ResolvedPath; readonly content: string; readonly mode: number }
  | { readonly kind: "delete"; readonly place: ResolvedPath; readonly hunks: readonly Hunk[] | undefined }
  | {
      readonly kind: "update";
      readonly place: ResolvedPath;
      readonly to: ResolvedPath | undefined;
      readonly hunks: readonly Hunk[];
      readonly isProgram: boolean | undefined;
      /** Whether the patch says something of it that may be so already. */
      readonly mayStay: boolean;
    };

/** The paths that a patch names, and what it does there. `base` is the folder for relative names. */
export function pathsNamed(
  patches: readonly FilePatch[],
  base: string | undefined,
  platform: Platform,
): PathNeed[] {
  const named = nameIn(base, platform);
  return patches.flatMap((patch): PathNeed[] => {
    const path = named(patch.path);
    if (patch.kind === "add" || (patch.kind === "update" && patch.to === undefined))
      return [{ path, intent: "write" }];
    const gone: PathNeed = { path, intent: "remove", isEntry: true };
    return patch.kind === "delete" ? [gone] : [gone, { path: named(patch.to ?? ""), intent: "write" }];
  });
}

function nameIn(base: string | undefined, platform: Platform): (name: string) => string {
  return (name) => (base === undefined || isAbsolute(name, platform) ? name : platform.path.join(base, name));
}

/** Resolves all paths of a patch. `base` is the folder for relative names. Throws MatrxError. */
export async function findAll(
  access: FileAccess,
  patches: readonly FilePatch[],
  base: string | undefined,
): Promise<FoundPatch[]> {
  const named = nameIn(base, access.platform);
  const found: FoundPatch[] = [];
  for (const patch of patches) found.push(await find(access, patch, named));
  return found;
}

async function find(
  access: FileAccess,
  patch: FilePatch,
  named: (name: string) => string,
): Promise<FoundPatch> {
  const name = named(patch.path);
  if (patch.kind === "add") {
    const place = await access.find(name, "write");
    if (place.missing.length === 0) throw existsError(place);
    return { kind: "add", place, content: patch.content, mode: patch.mode };
  }
  const right = rightOf(patch, access.platform);
  if (patch.kind === "update" && patch.to === undefined) {
    const content = contentFromNothing(patch.hunks);
    const place = await access.find(name, "write");
    if (content !== undefined && place.missing.length > 0) {
      return { kind: "add", place, content, mode: USUAL_MODE };
    }
    const existing = await access.findExisting(name, "write");
    return { kind: "update", place: existing, to: undefined, hunks: patch.hunks, ...right };
  }
  // Deleting and moving mean a link itself, not its target; a link is then refused, because it is not a file.
  const place = await access.findExistingEntry(name, "remove");
  if (patch.kind === "delete") return { kind: "delete", place, hunks: patch.hunks };
  const to = await access.find(named(patch.to ?? ""), "write");
  if (to.missing.length === 0) throw existsError(to);
  return { kind: "update", place, to, hunks: patch.hunks, ...right };
}

/** On Windows nothing about a file says that it is a program. */
function rightOf(patch: FilePatch, { name }: Platform) {
  const wanted = patch.kind === "update" ? patch.isProgram : undefined;
  return { isProgram: name === "Windows" ? undefined : wanted, mayStay: wanted !== undefined };
}

/** The content of a hunk that says there was nothing before: that makes a new file, even if nothing else says so. */
function contentFromNothing(hunks: readonly Hunk[]): string | undefined {
  const [only, ...others] = hunks;
  return only?.line === 0 && others.length === 0 ? textOf(only.lines, only.endless.new) : undefined;
}

/** All paths that are changed, sorted. Throws MatrxError if one is named twice. */
export function pathsOf(found: readonly FoundPatch[]): string[] {
  const places = found.flatMap((one) =>
    one.kind === "update" && one.to ? [one.place, one.to] : [one.place],
  );
  const seen = new Set<string>();
  for (const { path, shown } of places) {
    if (seen.has(path)) throw namedTwice(shown);
    seen.add(path);
  }
  return [...seen].sort();
}

function namedTwice(shown: string): MatrxError {
  return toolError("INVALID_PARAMETERS", `patch: ${shown} is named twice. Nothing was changed`, {
    hint: "Put all hunks of a file under one line that names it",
    details: { field: "patch", path: shown },
  });
}
