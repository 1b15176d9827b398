/** Sends a part of a file as a stream: all of one version of it, or an error. */
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { stampOf } from "../core/approved-state.ts";
import type { ServeStream } from "../core/byte-stream.ts";
import type { FileAccess, ResolvedPath } from "../fs/access.ts";
import { explained } from "../fs/errors.ts";
import { openFile } from "../fs/open-file.ts";
import { changedWhileSentError } from "./errors.ts";

/**
 * One frame of a stream, in bytes; at most two more are read ahead. Half of what a frame may hold: a call waits for the
 * frame before it on the socket, and with full frames it took 3.2 to 3.6 times as long beside a transfer as alone, with
 * these 2.0 to 2.4, for a tenth of the rate (docs/benchmarks.md).
 */
export const PIECE_BYTES = 128 * 1024 - 64;

export interface Part {
  readonly offset: number;
  readonly length: number;
  /** The file's state when the call was answered. */
  readonly stamp: string;
}

/** The file is opened again, since the stream may never come. */
export function sendFile(access: FileAccess, place: ResolvedPath, part: Part): ServeStream {
  return async (stream) => {
    const { handle, stat } = await openFile(access, place.path);
    await using file = handle;
    if (stampOf(stat) !== part.stamp) throw changedWhileSentError(place.shown);
    const digest = createHash("sha256");
    await explained(place.shown, "read", async () => {
      // Whoever counts the bytes takes the last one for the end: it is only sent if all were of one version.
      let last: Buffer | undefined;
      for await (const piece of piecesOf(file, part)) {
        digest.update(piece);
        if (last) await stream.write(last);
        last = piece;
      }
      const after = await file.stat({ bigint: true });
      if (stampOf(after) !== part.stamp) throw changedWhileSentError(place.shown);
      if (last) await stream.write(last);
    }).catch((error: unknown) => {
      throw error instanceof Shrunk ? changedWhileSentError(place.shown) : error;
    });
    return { bytes: part.length, sha256: digest.digest("hex") };
  };
}

/** The file ended before the part did. */
export class Shrunk extends Error {}

/** Exactly `length` bytes in new buffers, reading the next piece while one is used. Throws Shrunk, or the system's error. */
export async function* piecesOf(
  file: FileHandle,
  { offset, length }: Pick<Part, "offset" | "length">,
): AsyncGenerator<Buffer, void> {
  const end = offset + length;
  const readAt = (position: number) => {
    const piece = readPiece(file, position, Math.min(PIECE_BYTES, end - position));
    // It is awaited only after the piece before it was used.
    piece.catch(() => undefined);
    return piece;
  };
  let position = offset;
  let next = position < end ? readAt(position) : undefined;
  while (next !== undefined) {
    const piece: Buffer = await next;
    position += piece.length;
    next = position < end ? readAt(position) : undefined;
    yield piece;
  }
}

async function readPiece(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(length), 0, length, position);
  if (bytesRead === 0) throw new Shrunk();
  return buffer.subarray(0, bytesRead);
}
