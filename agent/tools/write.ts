/** Write: creates or replaces a file. */
import { hash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import type { Preview } from "../core/preview.ts";
import type { SeenFile } from "../core/sessions.ts";
import { defineTool, type PreviewContext, type ToolContext, type ToolResult } from "../core/tool.ts";
import { changedError, checkSha256, sha256Schema } from "../edit/errors.ts";
import { changeInWords, fileDiff, textOfFile } from "../edit/file-diff.ts";
import { countChangedLines } from "../edit/line-diff.ts";
import type { Files, ResolvedPath } from "../fs/access.ts";
import { isFolderError, OpenedFile } from "../fs/file-handle.ts";
import { makeParents } from "../fs/make-folders.ts";
import { namesFolder } from "../fs/path-syntax.ts";
import { counted } from "../text/counted.ts";

/** Contents up to this size are compared, to report how many lines change; in bytes. */
const COMPARED_MAX_BYTES = 1024 * 1024;
/** Up to this size, the error for a changed file includes its hash; in bytes. */
const HASHED_MAX_BYTES = 64 * 1024 * 1024;

const input = z.strictObject({
  file_path: z.string().min(1).describe("Absolute or relative path"),
  content: z.string().describe("The whole content, in UTF-8"),
  create_directories: z.boolean().optional().describe("Create missing parent directories (default true)"),
  expected_sha256: sha256Schema
    .optional()
    .describe("Write only if the file's current content has this SHA-256"),
});

type Input = z.infer<typeof input>;

export function writeTool(files: Files) {
  return defineTool({
    name: "Write",
    description:
      "Write a file, replacing all its content; creates missing folders. To change part of a file, use `Edit`.",
    details:
      "Mode, owner, links and hard links of an existing file are kept. Returns the number of bytes and whether the file is new.",
    input,
    model: { omit: ["create_directories", "expected_sha256"] },
    timeoutMs: 60_000,
    prepare: ({ file_path }) => ({ paths: [{ path: file_path, intent: "write" }] }),
    async preview(request, context) {
      const place = await destination(files, request, context);
      if (place.missing.length > 1) return previewOf(place, undefined, request);
      await using file = await OpenedFile.open(await files.as(context), place);
      return previewOf(place, await look(file, request, context), request);
    },
    async handle(request, context) {
      const access = await files.as(context);
      const place = await destination(files, request, context);
      await makeParents(access, place, request.create_directories ?? true);
      await using file = await OpenedFile.open(access, place);
      return await files.mutex.runExclusive(place.path, () => write(file, request, context));
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

/** What is there, if it may be replaced; undefined if nothing is. Throws MatrxError. */
async function look(
  file: OpenedFile,
  { content, expected_sha256 }: Input,
  { signal, session }: PreviewContext,
): Promise<Old | undefined> {
  const { place } = file;
  const stat = await file.entry();
  if (expected_sha256) checkSha256(stat && (await file.sha256(stat, signal)), expected_sha256, place);
  if (!stat) return undefined;
  const old = { stat, before: await contentOf(file, stat, signal) };
  if (!expected_sha256) await checkUnchanged(file, old, hash("sha256", content), { signal, session });
  return old;
}

function previewOf(place: ResolvedPath, old: Old | undefined, { content }: Input): Preview {
  const { shown } = place;
  const from = old && shown;
  const diff = fileDiff({ from, to: shown, before: old?.before && textOfFile(old.before), after: content });
  const what = old ? "Change" : "Create";
  const size = counted(Buffer.byteLength(content), "byte");
  return {
    summary: `${what} ${shown}: ${changeInWords(diff)} (${size})`,
    diff: diff.text,
    diffCut: diff.isCut,
    warnings: old && old.stat.nlink > 1n ? [`${shown} has other names (hard links), which change too`] : [],
  };
}

async function write(file: OpenedFile, request: Input, context: ToolContext): Promise<ToolResult> {
  const { place } = file;
  const { signal, session } = context;
  const old = await look(file, request, context);
  context.approved?.check(place.path, place.shown, old?.stat);
  const bytes = Buffer.from(request.content, "utf8");
  const sha256 = hash("sha256", bytes);
  const lines = old?.before && changedLines(old.before, bytes);
  const written = await file.write(old?.stat, bytes, signal);
  session.noteSeen(place.path, { stat: written.stat, sha256 });
  const change = lines ? `, ${counted(lines.added, "line")} added, ${lines.removed} removed` : "";
  return {
    output: `${written.created ? "Created" : "Overwrote"} ${place.shown} (${counted(bytes.length, "byte")}${change})`,
    metadata: {
      path: place.path,
      bytes: bytes.length,
      created: written.created,
      atomic: written.atomic,
      sha256,
      ...(lines && { lines_added: lines.added, lines_removed: lines.removed }),
    },
  };
}

interface Old {
  readonly stat: BigIntStats;
  /** Undefined if it is too large, or may not be read. */
  readonly before: Buffer | undefined;
}

/** Throws MatrxError `CONFLICT` if this session knows other content, unless the file already has the new one (`sha256`). */
async function checkUnchanged(
  file: OpenedFile,
  { stat, before }: Old,
  sha256: string,
  { signal, session }: Pick<ToolContext, "signal" | "session">,
): Promise<void> {
  const seen = session.seen(file.place.path);
  if (!seen) return;
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

/** The content of a small file; undefined if it is large, or may not be read. */
async function contentOf(
  file: OpenedFile,
  stat: BigIntStats,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  if (stat.size > COMPARED_MAX_BYTES) return undefined;
  return await file.read(stat, signal).catch((error: unknown) => {
    if (error instanceof MatrxError && error.code === "PERMISSION_DENIED") return undefined;
    throw error;
  });
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
