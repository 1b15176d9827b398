/** Write: creates or replaces a file. */
import { hash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import type { Preview } from "../core/preview.ts";
import type { SeenFile } from "../core/sessions.ts";
import { defineTool, type PreviewContext, type ToolContext, type ToolResult } from "../core/tool.ts";
import { checkNotebook } from "../edit/changed-file.ts";
import { bytesWith, EDIT_MAX_BYTES, shownText, textOfBytes, type UnitText } from "../edit/code-units.ts";
import { changedError, checkSha256, sha256Schema } from "../edit/errors.ts";
import { changeInWords, fileDiff } from "../edit/file-diff.ts";
import { countChangedLines } from "../edit/line-diff.ts";
import { endsOf } from "../edit/line-ends.ts";
import { rewritten } from "../edit/rewrite.ts";
import type { Files, ResolvedPath } from "../fs/access.ts";
import { isFolderError, OpenedFile } from "../fs/file-handle.ts";
import { inParents } from "../fs/make-folders.ts";
import { namesFolder } from "../platform/path-syntax.ts";
import { readAll } from "../read/not-text.ts";
import { isNotebookPath, notebookOf } from "../read/notebook.ts";
import { counted } from "../text/counted.ts";
import { TEXT_ENCODINGS } from "../text/encodings.ts";
import { formInWords } from "../text/form.ts";
import { headOf, SNIFF_BYTES } from "../text/sniff.ts";

/** Contents up to this size are compared, to report how many lines change; in bytes. */
const COMPARED_MAX_BYTES = 1024 * 1024;
/** Up to this size, the error for a changed file includes its hash; in bytes. */
const HASHED_MAX_BYTES = 64 * 1024 * 1024;

const input = z.strictObject({
  file_path: z.string().min(1).describe("Absolute or relative path"),
  content: z.string().describe("The whole content"),
  create_directories: z.boolean().optional().describe("Create missing parent directories (default true)"),
  expected_sha256: sha256Schema
    .optional()
    .describe("Write only if the file's current content has this SHA-256"),
  encoding: z
    .enum(TEXT_ENCODINGS)
    .optional()
    .describe("The encoding to write in (default: the file's own; UTF-8 for a new file)"),
});

type Input = z.infer<typeof input>;

export function writeTool(files: Files) {
  return defineTool({
    name: "Write",
    family: "files",
    effect: "write",
    confinable: true,
    description:
      "Write a file, replacing all its content; creates missing folders. To change part of a file, use `Edit`.",
    details:
      "An existing text file keeps its encoding and byte order mark; its CRLF line ends, too, unless the content has some of its own. Mode, owner, links and hard links are kept. An AI that replaces what its session has not read is told so, with the SHA-256 of what was there. A notebook must be JSON, and stay a notebook. Returns the number of bytes and whether the file is new.",
    input,
    model: {
      prompt: "Write files (creates directories)",
      omit: ["create_directories", "expected_sha256", "encoding"],
    },
    timeoutMs: 60_000,
    prepare: ({ file_path }) => ({ paths: [{ path: file_path, intent: "write" }] }),
    async preview(request, context) {
      const place = await destination(files, request, context);
      if (place.missing.length > 1) return previewOf(place, changeTo(request, undefined, place, false));
      await using file = await OpenedFile.open(await files.as(context), place);
      return previewOf(place, await change(file, request, context));
    },
    async handle(request, context) {
      const access = await files.as(context);
      const place = await destination(files, request, context);
      return await inParents(access, place, request.create_directories ?? true, async () => {
        await using file = await OpenedFile.open(access, place);
        return await files.mutex.runExclusive(place.path, () => write(file, request, context));
      });
    },
  });
}

/** Where to write. Throws MatrxError. */
async function destination(
  files: Files,
  { file_path, content }: Input,
  context: PreviewContext,
): Promise<ResolvedPath> {
  if (!content.isWellFormed()) throw halfCharacter();
  const access = await files.as(context);
  const place = await access.find(file_path, "write");
  if (namesFolder(file_path, access.platform)) throw isFolderError(place);
  return place;
}

interface Old {
  readonly stat: BigIntStats;
  /** All its bytes; undefined if it is very large, or may not be read. */
  readonly whole: Buffer | undefined;
  /** Undefined if it is no text, or may not be read. */
  readonly text: UnitText | undefined;
}

interface Change {
  /** What is there; undefined if nothing is. */
  readonly old: Old | undefined;
  readonly text: UnitText;
  readonly bytes: Buffer;
}

/** Throws MatrxError if the file's encoding lacks a character, or a notebook would be broken. */
function changeTo(
  { content, encoding }: Input,
  old: Old | undefined,
  { path, shown }: ResolvedPath,
  mayQuote: boolean,
): Change {
  const subject = { shown, mayQuote };
  const text = rewritten(old?.text, content, encoding, subject);
  if (isNotebookPath(path)) {
    const notebook = old?.whole && notebookOf(old.whole) ? old.whole : undefined;
    checkNotebook(notebook, Buffer.from(content), subject);
  }
  return { old, text, bytes: bytesWith(text, text.units) };
}

/** What the file becomes, if that may be; changes nothing yet. Throws MatrxError. */
async function change(file: OpenedFile, request: Input, context: PreviewContext): Promise<Change> {
  const { place } = file;
  const { signal, session, rights } = context;
  const stat = await file.entry();
  const { expected_sha256 } = request;
  if (expected_sha256) checkSha256(stat && (await file.sha256(stat, signal)), expected_sha256, place);
  const old = stat && (await lookAt(file, stat, signal));
  const wanted = changeTo(request, old, place, rights.mayRead);
  if (old && !expected_sha256)
    await checkUnchanged(file, old, hash("sha256", wanted.bytes), { signal, session });
  return wanted;
}

async function lookAt(file: OpenedFile, stat: BigIntStats, signal: AbortSignal): Promise<Old> {
  try {
    if (stat.size > EDIT_MAX_BYTES) {
      const head = await file.whileOpen(stat, (handle) => readAll(handle, SNIFF_BYTES + 1));
      return { stat, whole: undefined, text: textOfBytes(headOf(head)) };
    }
    const whole = await file.read(stat, signal);
    return { stat, whole, text: textOfBytes(whole) };
  } catch (error) {
    if (error instanceof MatrxError && error.code === "PERMISSION_DENIED")
      return { stat, whole: undefined, text: undefined };
    throw error;
  }
}

/** Its bytes, if there are not too many to be compared. */
function compared(old: Old | undefined): Buffer | undefined {
  return old?.whole && old.whole.length <= COMPARED_MAX_BYTES ? old.whole : undefined;
}

function previewOf({ shown }: ResolvedPath, { old, text, bytes }: Change): Preview {
  const before = compared(old) && old?.text && shownText(old.text.units, old.text.encoding);
  const after = shownText(text.units, text.encoding);
  const diff = fileDiff({ from: old && shown, to: shown, before, after });
  const what = old ? "Change" : "Create";
  return {
    summary: `${what} ${shown}: ${changeInWords(diff)} (${counted(bytes.length, "byte")})`,
    diff: diff.text,
    diffCut: diff.isCut,
    warnings: old && old.stat.nlink > 1n ? [`${shown} has other names (hard links), which change too`] : [],
  };
}

async function write(file: OpenedFile, request: Input, context: ToolContext): Promise<ToolResult> {
  const { place } = file;
  const { signal, session } = context;
  const { old, text, bytes } = await change(file, request, context);
  context.approved?.check(place.path, place.shown, old?.stat);
  const sha256 = hash("sha256", bytes);
  const before = compared(old);
  const lines = before && changedLines(before, bytes);
  const unread = unreadNote(old, request, context, place);
  const written = await file.write(old?.stat, bytes, signal);
  session.noteSeen(place.path, { stat: written.stat, sha256 });
  const form = { encoding: text.encoding, eol: endsOf(text.units) };
  const changes = lines ? `, ${counted(lines.added, "line")} added, ${lines.removed} removed` : "";
  const words = formInWords(form);
  return {
    output: `${written.created ? "Created" : "Overwrote"} ${place.shown} (${counted(bytes.length, "byte")}${changes})${words ? `, written ${words}` : ""}${unread}`,
    metadata: {
      path: place.path,
      bytes: bytes.length,
      created: written.created,
      atomic: written.atomic,
      sha256,
      ...form,
      ...(lines && { lines_added: lines.added, lines_removed: lines.removed }),
    },
  };
}

/** For models: that they replaced what they can't have known. */
function unreadNote(
  old: Old | undefined,
  { expected_sha256 }: Input,
  { grant, session }: Pick<ToolContext, "grant" | "session">,
  { path }: ResolvedPath,
): string {
  if (!old || old.stat.size === 0n || grant.owner || expected_sha256 || session.seen(path)) return "";
  const was = old.whole ? `; its SHA-256 was ${hash("sha256", old.whole)}` : "";
  return `\n[This session had not read what was there before${was}]`;
}

/** Throws MatrxError `CONFLICT` if this session knows other content, unless the file already has the new one (`sha256`). */
async function checkUnchanged(
  file: OpenedFile,
  old: Old,
  sha256: string,
  { signal, session }: Pick<ToolContext, "signal" | "session">,
): Promise<void> {
  const seen = session.seen(file.place.path);
  if (!seen) return;
  const { stat } = old;
  const before = compared(old);
  const now = before && hash("sha256", before);
  if (now === sha256) return;
  const isKnown = now && seen.sha256 ? now === seen.sha256 : isSame(stat, seen.stat);
  if (isKnown) return;
  const mayHash = stat.size > COMPARED_MAX_BYTES && stat.size <= HASHED_MAX_BYTES;
  throw changedError(file.place, mayHash ? await file.sha256(stat, signal) : now);
}

function isSame(a: SeenFile["stat"], b: SeenFile["stat"]): boolean {
  return a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

/** How many lines change; undefined if counting would cost too much. */
function changedLines(before: Buffer, bytes: Buffer) {
  if (bytes.length > COMPARED_MAX_BYTES) return undefined;
  return countChangedLines(before.toString("latin1"), bytes.toString("latin1"));
}

function halfCharacter(): MatrxError {
  return toolError("INVALID_PARAMETERS", "content: contains half a character, which UTF-8 can't encode", {
    hint: "Send whole characters: surrogates come in pairs",
    details: { field: "content" },
  });
}
