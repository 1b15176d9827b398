import { createHash, hash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { open } from "node:fs/promises";
import { MatrxError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { explained } from "../paths/errors.ts";
import type { FileAccess, Files, Place } from "../paths/files.ts";
import { makeFolders } from "../paths/make-folders.ts";
import { refuseOddKind } from "../paths/open-file.ts";
import { entryAt, FileChanged, PartlyWritten, writeFile } from "../paths/write-file.ts";
import type { Directory } from "../platform/directory.ts";
import { bytesFrom } from "../text/chunks.ts";
import { defineTool, type ToolContext, type ToolResult } from "../tool.ts";

const input = z.strictObject({
  file_path: z.string().min(1).describe("Absolute or relative path to the file"),
  content: z.string().describe("The content to write to the file, as UTF-8"),
  create_directories: z.boolean().optional().describe("Create missing parent directories (default true)"),
  expected_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, "must be a SHA-256 in hex, as Read gives it")
    .optional()
    .describe("Write only if the file's present content has this SHA-256"),
});

type Input = z.infer<typeof input>;

export function writeTool(files: Files) {
  return defineTool({
    name: "Write",
    effect: "write",
    description:
      "Write content to a file on the device, replacing what it held. Creates parent directories unless told not to. Mode, owner, links and hard links of an existing file are kept. Returns the number of bytes and whether the file is new.",
    input,
    timeoutMs: 60_000,
    async handle(request, context) {
      if (!request.content.isWellFormed()) throw halfCharacter();
      const access = await files.as(context);
      const place = await access.find(request.file_path, "write");
      if (namesFolder(request.file_path, access)) throw isFolder(place);
      await prepareFolder(access, place, request);
      const { folder, name } = access.parentOf(place);
      if (name === "") throw isFolder(place);
      const parent = await access.openFolder(folder, place.shown);
      try {
        return await files.turns.take(place.path, () =>
          explained(place.shown, "write", () => write(access, place, parent, name, request, context)),
        );
      } finally {
        await parent.close();
      }
    },
  });
}

/** A path that ends with a separator. */
function namesFolder(text: string, { platform }: FileAccess): boolean {
  return text.endsWith("/") || text.endsWith(platform.path.sep);
}

async function prepareFolder(access: FileAccess, place: Place, request: Input): Promise<void> {
  const folders = place.missing.slice(0, -1);
  if (folders.length === 0) return;
  if (request.create_directories === false) throw noFolder(access, place);
  await makeFolders(access, access.existingPart(place), folders, place.shown);
}

async function write(
  access: FileAccess,
  place: Place,
  parent: Directory,
  name: string,
  { content, expected_sha256 }: Input,
  { signal, session }: ToolContext,
): Promise<ToolResult> {
  const old = await entryAt(parent, name);
  if (old) refuse(access, old, place);
  if (expected_sha256) await checkExpected(parent, name, old, expected_sha256.toLowerCase(), place, signal);
  const bytes = Buffer.from(content, "utf8");
  const linked = await access.isReachedByLink(place);
  const written = await writeFile({ parent, name, old, linked }, bytes, signal).catch((error: unknown) => {
    if (error instanceof FileChanged) throw changed(place);
    throw error instanceof PartlyWritten ? partlyWritten(place, error) : error;
  });
  const stat = await entryAt(parent, name);
  if (stat) session.noteSeen(place.path, { size: Number(stat.size), modified: Number(stat.mtimeMs) });
  return {
    output: `${written.created ? "Created" : "Overwrote"} ${place.shown} (${bytes.length} bytes)`,
    metadata: {
      path: place.path,
      bytes: bytes.length,
      created: written.created,
      atomic: written.atomic,
      sha256: hash("sha256", bytes),
    },
  };
}

function refuse(access: FileAccess, old: BigIntStats, place: Place): void {
  if (old.isDirectory()) throw isFolder(place);
  refuseOddKind(old, place);
  access.inspect(old, place.shown);
}

async function checkExpected(
  parent: Directory,
  name: string,
  old: BigIntStats | undefined,
  expected: string,
  place: Place,
  signal: AbortSignal,
): Promise<void> {
  const found = old && (await sha256At(parent.at(name), signal));
  if (found === expected) return;
  throw new MatrxError({
    code: "CONFLICT",
    message: found
      ? `${place.shown} has changed: its SHA-256 is ${found}`
      : `${place.shown} does not exist, so it cannot have the expected content`,
    hint: "Read it again, then write",
    hop: "tool",
    details: { path: place.shown, ...(found && { sha256: found }) },
  });
}

async function sha256At(path: string, signal: AbortSignal): Promise<string> {
  const handle = await open(
    path,
    constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
  );
  try {
    const digest = createHash("sha256");
    for await (const piece of bytesFrom(handle, 0, signal)) digest.update(piece);
    return digest.digest("hex");
  } finally {
    await handle.close();
  }
}

function isFolder(place: Place): MatrxError {
  return new MatrxError({
    code: "TOOL_EXECUTION_FAILED",
    message: `${place.shown} is a folder`,
    hint: "Name a file in it",
    hop: "tool",
    details: { path: place.shown },
  });
}

function noFolder(access: FileAccess, place: Place): MatrxError {
  return new MatrxError({
    code: "NOT_FOUND",
    message: `The folder of ${place.shown} does not exist`,
    hint: `Only ${access.existingPart(place)} exists of it; leave out create_directories to have it made`,
    hop: "tool",
    details: { path: place.shown },
  });
}

function changed(place: Place): MatrxError {
  return new MatrxError({
    code: "CONFLICT",
    message: `${place.shown} was replaced by another program at this moment; nothing was written`,
    hint: "Read it, then write again",
    hop: "tool",
    details: { path: place.shown },
  });
}

function partlyWritten(place: Place, cause: PartlyWritten): MatrxError {
  return new MatrxError(
    {
      code: "TOOL_EXECUTION_FAILED",
      message: `Writing ${place.shown} failed on the way (${cause.message}): it holds a part of the new content, and the rest of the old`,
      hint: "Free some space, then write it again",
      hop: "tool",
      details: { path: place.shown, system_code: cause.message },
    },
    cause,
  );
}

function halfCharacter(): MatrxError {
  return new MatrxError({
    code: "INVALID_PARAMETERS",
    message: "content: it holds half of a character, which UTF-8 cannot carry",
    hint: "Send the text whole; surrogates come in pairs",
    hop: "tool",
    details: { field: "content" },
  });
}
