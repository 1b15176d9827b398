/** What `Read` says of files that are not text: an error with facts about the file. */
import type { FileHandle } from "node:fs/promises";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { OpenFile } from "../fs/open-file.ts";
import { sha256Of } from "../text/chunks.ts";
import { counted } from "../text/counted.ts";
import { toolName } from "../text/tool-names.ts";
import { factsOf } from "./bytes.ts";

/** Errors about binary files up to this size include a hash; in bytes. */
const HASHED_MAX_BYTES = 64 * 1024 * 1024;

export async function binaryFileError(
  file: OpenFile,
  mediaType: string,
  signal: AbortSignal,
): Promise<MatrxError> {
  const size = Number(file.stat.size);
  const sha256 = size <= HASHED_MAX_BYTES ? await sha256Of(file.handle, signal) : undefined;
  return toolError(
    "TOOL_EXECUTION_FAILED",
    `${file.place.shown} is a binary file (${mediaType}, ${counted(size, "byte")})`,
    {
      hint: `Read its bytes with encoding=base64, or look into it with ${toolName("Bash")}, for example: file, hexdump -C, strings, unzip -l. If it is text, give its encoding, such as utf-8 or utf-16le`,
      details: { ...factsOf(file), media_type: mediaType, ...(sha256 && { sha256 }) },
    },
  );
}

/** The first `size` bytes of a file, or all of a shorter one. */
export async function readAll(handle: FileHandle, size: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await handle.read(buffer, filled, size - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
