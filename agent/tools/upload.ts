/** Upload: begins an upload, whose bytes come through streams. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { stampOf } from "../core/approved-state.ts";
import { defineTool, type PreviewContext, type ToolContext, type ToolResult } from "../core/tool.ts";
import { sha256Schema } from "../edit/errors.ts";
import type { FileAccess, Files, ResolvedPath } from "../fs/access.ts";
import { explained } from "../fs/errors.ts";
import { isFolderError, notReplaceableError, OpenedFile } from "../fs/file-handle.ts";
import { inParents } from "../fs/make-folders.ts";
import { roomAt } from "../platform/disk-room.ts";
import { namesFolder } from "../platform/path-syntax.ts";
import { counted } from "../text/counted.ts";
import { toolName } from "../text/tool-names.ts";
import { appendFrom } from "../transfers/append.ts";
import type { Digests } from "../transfers/digests.ts";
import { noRoomError } from "../transfers/errors.ts";
import { createPart, mayReplace } from "../transfers/part-file.ts";
import { makeUploadId } from "../transfers/upload-record.ts";
import { checkTarget } from "../transfers/upload-target.ts";
import type { Uploads } from "../transfers/uploads.ts";

const input = z.strictObject({
  path: z.string().min(1).describe("Where the file will be; absolute or relative"),
  size: z.int().nonnegative().optional().describe("Its size in bytes, if known: more is refused"),
  sha256: sha256Schema.optional().describe("The SHA-256 that the whole content must have"),
  mode: z
    .string()
    .regex(/^0?[0-7]{3}$/, "must be three octal digits, such as 644")
    .optional()
    .describe("Mode of a new file, in octal; an existing file keeps its own"),
  modified: z.iso.datetime({ offset: true }).optional().describe("Time of change that the file gets"),
  overwrite: z.boolean().optional().describe("Replace an existing file (default true)"),
  if_etag: z.string().min(1).max(128).optional().describe("Only if the existing file has this etag"),
  if_absent: z.boolean().optional().describe("Only if nothing is there, as with overwrite=false"),
  in_place: z
    .boolean()
    .optional()
    .describe(
      "Write into an existing file that cannot be replaced, because of hard links, its owner or its attributes; a failure can then leave half of it (default false)",
    ),
  resumable: z
    .boolean()
    .optional()
    .describe("Keep what has arrived if a stream breaks, for `UploadAppend` (default true)"),
  create_directories: z.boolean().optional().describe("Create missing parent directories (default false)"),
});

type Input = z.infer<typeof input>;

export function uploadTool(files: Files, uploads: Uploads, digests: Digests) {
  return defineTool({
    name: "Upload",
    family: "files",
    effect: "write",
    confinable: true,
    description:
      "Begin an upload: its bytes come through streams, now and with `UploadAppend`, and `UploadCommit` puts the file into place. For programs; models use `Write`.",
    details:
      "The bytes are collected in a hidden file beside the target, which nobody else can read. An unfinished upload is kept for a day after bytes last arrived, also when the agent restarts. With `resumable` false it is removed when its stream breaks or its commit fails.",
    input,
    model: { hidden: true },
    timeoutMs: 120_000,
    prepare: ({ path }) => ({ paths: [{ path, intent: "write" }] }),
    async preview(request, context) {
      const access = await files.as(context);
      const place = await destination(access, request);
      const isNew = place.missing.length > 1 || !(await targetOf(access, place, request, digests, context));
      const size = request.size === undefined ? "a file of unknown size" : counted(request.size, "byte");
      return {
        summary: `Upload ${size} to ${place.shown}, ${isNew ? "as a new file" : "replacing what is there"}`,
        warnings: request.sha256 ? [] : ["Its content is not fixed: whatever the caller sends is allowed"],
      };
    },
    async handle(request, context) {
      const access = await files.as(context);
      uploads.checkRoom(context.grant);
      const place = await destination(access, request);
      return await inParents(access, place, request.create_directories ?? false, () =>
        begin(access, place, request, { uploads, digests, context }),
      );
    },
  });
}

/** Where the file will be. Throws MatrxError. */
async function destination(access: FileAccess, request: Input): Promise<ResolvedPath> {
  const place = await access.find(request.path, "write");
  if (namesFolder(request.path, access.platform)) throw isFolderError(place);
  if (place.missing.length > 1 && !request.create_directories) throw noFolderError(place);
  return place;
}

/** The file that would be replaced, or undefined. Throws MatrxError if it may not be. */
async function targetOf(
  access: FileAccess,
  place: ResolvedPath,
  request: Input,
  digests: Digests,
  { signal }: PreviewContext,
) {
  await using file = await OpenedFile.open(access, place);
  const old = await checkTarget(file, conditionsOf(request), digests, signal);
  if (old && !mayReplace(old) && !request.in_place) throw notReplaceableError(place.shown);
  return old;
}

function conditionsOf({ overwrite = true, if_absent = false, if_etag }: Input) {
  return { overwrite: overwrite && !if_absent, if_etag };
}

interface Beginning {
  readonly uploads: Uploads;
  readonly digests: Digests;
  readonly context: ToolContext;
}

async function begin(
  access: FileAccess,
  place: ResolvedPath,
  request: Input,
  { uploads, digests, context }: Beginning,
): Promise<ToolResult> {
  const { approved, grant, signal, opensStream } = context;
  await using file = await OpenedFile.open(access, place);
  const old = await checkTarget(file, conditionsOf(request), digests, signal);
  approved?.check(place.path, place.shown, old);
  const { size, modified, mode, resumable = true, in_place = false } = request;
  if (size !== undefined) await checkSpace(file, size);
  const upload = uploads.add(grant, {
    ...{ id: makeUploadId(), grant: String(grant.id), path: place.path, shown: place.shown },
    ...conditionsOf(request),
    ...{ size, sha256: request.sha256?.toLowerCase(), mode: 0 },
    ...{ in_place, resumable, expires: uploads.nextExpiry({ resumable }) },
    ...(modified !== undefined && { modified: Date.parse(modified) }),
    ...(approved && { approved: { stamp: old ? stampOf(old) : null } }),
  });
  try {
    const part = await explained(place.shown, "begin an upload beside", () =>
      createPart(access, file, old, upload.record),
    );
    uploads.update(upload, { ...part, ...(mode !== undefined && { mode: Number.parseInt(mode, 8) }) });
  } catch (error) {
    await uploads.discard(upload).catch(() => undefined);
    throw error;
  }
  const expires = new Date(upload.record.expires).toISOString();
  return {
    output: `Began ${upload.id} to ${place.shown}`,
    metadata: { upload: upload.id, offset: 0, path: place.path, expires },
    ...(opensStream && { stream: appendFrom(uploads, access, upload, { offset: 0 }) }),
  };
}

/** Throws MatrxError if so much does not fit. */
async function checkSpace({ parent, place }: OpenedFile, size: number): Promise<void> {
  const room = await roomAt(parent.self).catch(() => undefined);
  if (room && room.freeBytes < size) throw noRoomError(place.shown, size, room.freeBytes);
}

function noFolderError({ shown }: ResolvedPath): MatrxError {
  return toolError("NOT_FOUND", `The folder of ${shown} does not exist`, {
    hint: `Set create_directories, or create it with ${toolName("create_directory")}`,
    details: { path: shown, reason: "no_folder" },
  });
}
