/** A file's bytes in order, a piece at a time. */
import { StringDecoder } from "node:string_decoder";

const CHUNK = 256 * 1024;

/** Bytes by their offset: an open file, or what was read of one. */
export interface Source {
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
}

/** What was read of a small file: all that is told of it is told of the same bytes, whatever becomes of the file. */
export function sourceOf(bytes: Buffer): Source {
  return {
    read: async (buffer, offset, length, position) => ({
      bytesRead: bytes.copy(buffer, offset, position, position + length),
    }),
  };
}

/** From a byte offset to the end. A piece is valid until the next one is asked for. */
export async function* bytesFrom(
  source: Source,
  offset: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  const buffer = Buffer.allocUnsafe(CHUNK);
  for (let position = offset; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await source.read(buffer, 0, CHUNK, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** UTF-16 as UTF-8, so that lines are found in one way. */
export async function* utf8Of(
  pieces: AsyncIterable<Buffer>,
  bigEndian: boolean,
): AsyncGenerator<Buffer, void> {
  const decoder = new StringDecoder("utf16le");
  let odd = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = Buffer.concat([odd, piece]);
    const even = bytes.length - (bytes.length % 2);
    odd = Buffer.from(bytes.subarray(even));
    const pairs = bytes.subarray(0, even);
    const text = decoder.write(bigEndian ? pairs.swap16() : pairs);
    if (text) yield Buffer.from(text, "utf8");
  }
  const rest = decoder.end();
  if (rest || odd.length > 0) yield Buffer.from(`${rest}${odd.length > 0 ? "\ufffd" : ""}`, "utf8");
}

interface ByteRange {
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
