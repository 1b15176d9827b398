/** A piece of any file's bytes. */
import type { Source } from "./chunks.ts";

export interface ByteRange {
  /** Offset of its first byte. */
  readonly start: number;
  readonly bytes: Buffer;
  /** Where the next piece begins; undefined: the file ended. */
  readonly next: number | undefined;
}

/** `offset` negative: that many bytes from the end of `size`. Beyond the end there is nothing. */
export async function readByteRange(
  source: Source,
  size: number,
  { offset, limit, signal }: { offset: number; limit: number; signal: AbortSignal },
): Promise<ByteRange> {
  const start = offset < 0 ? Math.max(0, size + offset) : offset;
  // One more tells whether the file goes on; a size of 0 may be one of /proc, which says nothing.
  const buffer = Buffer.allocUnsafe(limit + 1);
  let filled = 0;
  while (filled <= limit) {
    signal.throwIfAborted();
    const { bytesRead } = await source.read(buffer, filled, limit + 1 - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  const bytes = buffer.subarray(0, Math.min(filled, limit));
  return { start, bytes, next: filled > limit ? start + limit : undefined };
}
