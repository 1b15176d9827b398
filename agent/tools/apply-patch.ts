/** ApplyPatch: changes several files by a patch, all or none. */
import { hash } from "node:crypto";
import { MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import type { SeenFile } from "../core/sessions.ts";
import { defineTool, type PreviewContext, type ToolContext, type ToolResult } from "../core/tool.ts";
import { patchPreview } from "../edit/patch-preview.ts";
import type { FilePatch } from "../edit/patch-types.ts";
import {
  type FoundPatch,
  factsOf,
  findAll,
  type Prepared,
  parsePatch,
  pathsNamed,
  pathsOf,
  prepare,
  prepareNew,
  readBefore,
} from "../edit/prepared-patch.ts";
import type { FileAccess, Files, ResolvedPath } from "../fs/access.ts";
import { OpenedFile } from "../fs/file-handle.ts";
import { UndoableChanges } from "../fs/transaction.ts";
import { absolutePath } from "../platform/path-syntax.ts";
import { counted } from "../text/counted.ts";

const MOST_FILES = 200;
/** Bounded because each hunk may have to be searched for in the whole file. */
const MOST_HUNKS = 2000;
/** Limit on all files of a patch together, before the change, in bytes. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Limit on diffs in an answer, in characters. */
const DIFF_CHARS = 30_000;

const input = z.strictObject({
  patch: z
    .string()
    .min(1)
    .describe(
      'A unified diff; or "*** Begin Patch", for each file "*** Update File: PATH" (and "*** Move to: PATH") with hunks of "@@" or "@@ LINE ABOVE" and lines that begin with " ", "-" or "+", or "*** Add File: PATH" with "+" lines, or "*** Delete File: PATH", then "*** End Patch"',
    ),
  path: z.string().min(1).optional().describe("Folder for relative paths (default: working directory)"),
});

export function applyPatchTool(files: Files) {
  return defineTool({
    name: "ApplyPatch",
    family: "files",
    effect: "write",
    confinable: true,
    description:
      "Change text files in several places at once, all or none. Context and removed lines must match exactly; line numbers may be wrong. Returns a diff of each file. For one place, `Edit` is simpler.",
    details:
      "A unified diff, or the *** Begin Patch format, which needs no line numbers. Text that is not at the line the patch names must match in only one place. If anything does not match, nothing is changed. Encoding, line ends and links are kept, and the mode unless the patch sets it. Deleting and moving files needs the same permission as `Delete`.",
    input,
    model: { prompt: "Change several files by one patch, all or none", omit: ["path"] },
    timeoutMs: 60_000,
    prepare({ patch, path }) {
      const patches = parsePatch(patch);
      checkCount(patches);
      const does = "This patch deletes or moves files";
      return {
        paths: pathsNamed(patches, path, files.platform),
        ...(patches.some(takesAway) && { tools: [{ tool: "Delete", does }] }),
      };
    },
    async preview(request, context) {
      const access = await files.as(context);
      const found = await findIn(access, request, context);
      pathsOf(found);
      const opened: OpenedFile[] = [];
      try {
        return patchPreview(await prepareAll(access, found, opened, context));
      } finally {
        for (const file of opened) await file.close();
      }
    },
    async handle(request, context) {
      const access = await files.as(context);
      const found = await findIn(access, request, context);
      return await withMutexes(files, pathsOf(found), () => patchFiles(access, found, context));
    },
  });
}

function findIn(
  access: FileAccess,
  { patch, path }: z.infer<typeof input>,
  { session }: PreviewContext,
): Promise<FoundPatch[]> {
  const base = path === undefined ? undefined : absolutePath(path, session.cwd, access.platform);
  return findAll(access, parsePatch(patch), base);
}

/** Prepares all changes, then applies them; undoes those already made if one fails. */
async function patchFiles(
  access: FileAccess,
  found: readonly FoundPatch[],
  context: ToolContext,
): Promise<ToolResult> {
  const opened: OpenedFile[] = [];
  const changes = new UndoableChanges(access, context.signal);
  try {
    const prepared = await prepareAll(access, found, opened, context);
    for (const change of prepared) checkApproved(change, context);
    const seen = new Map<string, SeenFile>();
    try {
      for (const change of deletionsLast(prepared)) await apply(changes, change, seen);
    } catch (error) {
      throw undoneError(error, await changes.undo());
    }
    const left = await changes.finish();
    for (const [path, file] of seen) context.session.noteSeen(path, file);
    return resultOf(prepared, [...notesOf(found), ...leftovers(left)], left, context);
  } finally {
    await changes.close();
    for (const file of opened) await file.close();
  }
}

async function prepareAll(
  access: FileAccess,
  found: readonly FoundPatch[],
  opened: OpenedFile[],
  { signal, rights }: PreviewContext,
): Promise<Prepared[]> {
  const prepared: Prepared[] = [];
  let bytes = 0;
  for (const one of found) {
    signal.throwIfAborted();
    if (one.kind === "add") {
      prepared.push(prepareNew(one, rights.mayRead));
      continue;
    }
    const file = await OpenedFile.open(access, one.place);
    opened.push(file);
    const before = await readBefore(file, signal);
    bytes += before.bytes.length;
    if (bytes > MOST_BYTES) throw tooMuch(`its files have more than ${MOST_BYTES} bytes in total`);
    prepared.push(prepare(one, file, before, rights.mayRead));
  }
  return prepared;
}

/** Throws MatrxError `CONFLICT` unless what it changes is as a person approved it. */
function checkApproved(change: Prepared, { approved }: ToolContext): void {
  if (change.kind === "add") return approved?.check(change.place.path, change.place.shown, undefined);
  const { file, before } = change;
  approved?.check(file.place.path, file.place.shown, before.stat);
  if (change.kind === "update" && change.to) approved?.check(change.to.path, change.to.shown, undefined);
}

/** If the agent dies midway, files to be deleted are still there under their names. */
function deletionsLast(prepared: readonly Prepared[]): Prepared[] {
  return prepared.toSorted((a, b) => Number(a.kind === "delete") - Number(b.kind === "delete"));
}

/** Notes in `seen` what the session then knows about the file. */
async function apply(changes: UndoableChanges, change: Prepared, seen: Map<string, SeenFile>): Promise<void> {
  if (change.kind === "delete") return await changes.remove(change.file, change.before);
  const stat = await applied(changes, change);
  seen.set(placeAfter(change).path, { stat, sha256: hash("sha256", change.bytes) });
}

function applied(changes: UndoableChanges, change: Exclude<Prepared, { kind: "delete" }>) {
  if (change.kind === "add") return changes.make(change.place, change.bytes, change.mode);
  return changed(changes, change);
}

async function changed(changes: UndoableChanges, change: Extract<Prepared, { kind: "update" }>) {
  const { file, before, to, bytes, isProgram } = change;
  if (isProgram !== undefined) await changes.setProgram(file, before, isProgram);
  if (to) return await changes.move(file, before, to, bytes);
  if (bytes.equals(before.bytes)) return before.stat;
  return await changes.write(file, { ...before, stat: await file.existing() }, bytes);
}

function placeAfter(change: Exclude<Prepared, { kind: "delete" }>): ResolvedPath {
  return change.kind === "add" ? change.place : (change.to ?? change.file.place);
}

function takesAway(patch: FilePatch): boolean {
  return patch.kind === "delete" || (patch.kind === "update" && patch.to !== undefined);
}

function withMutexes<T>(files: Files, paths: readonly string[], action: () => Promise<T>): Promise<T> {
  const [first, ...rest] = paths;
  if (first === undefined) return action();
  return files.mutex.runExclusive(first, () => withMutexes(files, rest, action));
}

/** Notes on errors in the patch that did not matter. */
function notesOf(found: readonly FoundPatch[]): string[] {
  return found.flatMap((one) => {
    const hunks = one.kind === "add" ? [] : (one.hunks ?? []);
    return hunks.flatMap(({ note }) => (note === undefined ? [] : `${one.place.shown}: ${note}`));
  });
}

function leftovers(left: readonly string[]): string[] {
  return left.map((what) => `A leftover could not be removed: ${what}`);
}

function resultOf(
  prepared: readonly Prepared[],
  notes: readonly string[],
  left: readonly string[],
  context: ToolContext,
): ToolResult {
  const summary = prepared.map(summaryOf);
  const diffs = context.rights.mayRead ? shownDiffs(prepared) : [];
  return {
    output: [...summary, ...diffs, ...notes.map((note) => `[${note}]`)].join("\n"),
    metadata: { files: prepared.map(factsOf), ...(left.length > 0 && { leftovers: left }) },
  };
}

function summaryOf(change: Prepared): string {
  if (change.kind === "add") return `Added ${change.place.shown} (${counted(change.bytes.length, "byte")})`;
  const { shown } = change.file.place;
  if (change.kind === "delete") return `Deleted ${shown}`;
  if (change.to) return `Moved ${shown} to ${change.to.shown}${rightInWords(change.isProgram)}`;
  const isSame = change.isProgram === undefined && change.bytes.equals(change.before.bytes);
  return isSame
    ? `${shown} is as the patch sets it already`
    : `Updated ${shown}${rightInWords(change.isProgram)}`;
}

function rightInWords(isProgram: boolean | undefined): string {
  return isProgram === undefined ? "" : isProgram ? ", now executable" : ", no longer executable";
}

function shownDiffs(prepared: readonly Prepared[]): string[] {
  const shown: string[] = [];
  let chars = 0;
  for (const change of prepared) {
    if (change.kind !== "update" || !change.diff) continue;
    chars += change.diff.text.length;
    if (chars > DIFF_CHARS) {
      shown.push("", "[The diffs of the other files are not shown; read them to see what changed]");
      break;
    }
    shown.push("", `--- ${change.file.place.shown}`, `+++ ${(change.to ?? change.file.place).shown}`);
    shown.push(change.diff.text);
  }
  return shown;
}

function checkCount(patches: readonly FilePatch[]): void {
  if (patches.length > MOST_FILES)
    throw tooMuch(`it names ${patches.length} files; at most ${MOST_FILES} are allowed`);
  const hunks = patches.reduce(
    (sum, patch) => sum + (patch.kind === "add" ? 0 : (patch.hunks?.length ?? 0)),
    0,
  );
  if (hunks > MOST_HUNKS) throw tooMuch(`it has ${hunks} hunks; at most ${MOST_HUNKS} are allowed`);
}

function tooMuch(why: string): MatrxError {
  return toolError("PAYLOAD_TOO_LARGE", `patch: ${why}. Nothing was changed`, {
    hint: "Split it into several patches",
    details: { field: "patch" },
  });
}

/** The error that stopped a patch, with what became of the changes made before it. */
function undoneError(error: unknown, problems: readonly string[]): unknown {
  if (problems.length === 0 && !(error instanceof MatrxError)) return error;
  const shape =
    error instanceof MatrxError
      ? error.shape()
      : { code: "TOOL_EXECUTION_FAILED" as const, message: String(error), hop: "tool" as const };
  const outcome =
    problems.length === 0
      ? "Everything was undone, so nothing was changed"
      : `These could not be undone and stay changed: ${problems.join("; ")}`;
  const details = { ...shape.details, ...(problems.length > 0 && { not_taken_back: problems }) };
  return new MatrxError({ ...shape, message: `${shape.message}. ${outcome}`, details }, error);
}
