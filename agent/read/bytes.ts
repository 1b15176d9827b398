/** Reads a range of any file's bytes as base64. */
import { hash } from "node:crypto";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { ToolContext, ToolResult } from "../core/tool.ts";
import { fileTime } from "../fs/file-time.ts";
import type { OpenFile } from "../fs/open-file.ts";
import { readByteRange } from "../text/chunks.ts";
import { counted } from "../text/counted.ts";

const DEFAULT_BYTES = 64 * 1024;
/** As base64 it fits into a 16 MiB result frame. */
export const MOST_BYTES = 8 * 1024 * 1024;

export interface BytesWanted {
  readonly byte_offset?: number | undefined;
  readonly byte_limit?: number | undefined;
  /** Only the base64, without a note. */
  readonly raw?: boolean | undefined;
}

/** Throws MatrxError if the range begins beyond the end. */
export async function readBytes(
  file: OpenFile,
  request: BytesWanted,
  { session, signal, room }: Pick<ToolContext, "session" | "signal" | "room">,
): Promise<ToolResult> {
  const size = Number(file.stat.size);
  const limit = request.byte_limit ?? DEFAULT_BYTES;
  // Files in /proc have size 0.
  await room(base64Length(size === 0 ? limit : Math.min(limit, size)));
  const wanted = { offset: request.byte_offset ?? 0, limit, signal };
  const { start, bytes, next } = await readByteRange(file.handle, size, wanted);
  if (bytes.length === 0 && start > 0) throw beyondBytes(file, start);
  session.noteSeen(file.place.path, { stat: file.stat, sha256: undefined });
  const end = start + bytes.length;
  const note =
    next === undefined
      ? `Bytes ${start} to ${end - 1} as base64; the file ends here`
      : `Bytes ${start} to ${end - 1} of ${size} as base64. Continue with byte_offset=${next}`;
  const base64 = bytes.toString("base64");
  return {
    output: request.raw ? base64 : bytes.length === 0 ? "[The file is empty]" : `${base64}\n\n[${note}]`,
    metadata: {
      ...factsOf(file),
      start_byte: start,
      end_byte: end,
      ...(next !== undefined && { next_byte_offset: next }),
      truncated: next !== undefined,
      encoding: "base64",
      sha256_of_range: hash("sha256", bytes),
    },
  };
}

function beyondBytes(file: OpenFile, offset: number): MatrxError {
  return toolError(
    "INVALID_PARAMETERS",
    `byte_offset ${offset} is at or beyond the end of ${file.place.shown}: it has ${counted(Number(file.stat.size), "byte")}`,
    {
      hint: "Use a smaller byte_offset, or a negative one to read from the end",
      details: { ...factsOf(file), field: "byte_offset" },
    },
  );
}

export function factsOf({ place, stat }: OpenFile) {
  return { path: place.path, size: Number(stat.size), mtime: fileTime(stat.mtimeMs).toISOString() };
}

/** How many characters this many bytes take as base64. */
export function base64Length(bytes: number): number {
  return 4 * Math.ceil(bytes / 3);
}
