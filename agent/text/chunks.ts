/** Reads a file's bytes in order, in pieces. */
import { createHash } from "node:crypto";
import { StringDecoder } from "node:string_decoder";

const CHUNK = 256 * 1024;

/** Bytes by offset: an open file, or its content in memory. */
export interface Source {
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
}

/** The content of a small file: everything reported about it comes from the same bytes, even if the file changes. */
export function sourceOf(bytes: Buffer): Source {
  return {
    read: async (buffer, offset, length, position) => ({
      bytesRead: bytes.copy(buffer, offset, position, position + length),
    }),
  };
}

/** From a byte offset to the end. Each piece is valid until the next one is requested. */
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

/** The SHA-256 of all bytes, in hex. */
export async function sha256Of(source: Source, signal: AbortSignal): Promise<string> {
  const digest = createHash("sha256");
  for await (const piece of bytesFrom(source, 0, signal)) digest.update(piece);
  return digest.digest("hex");
}

/** UTF-16 as UTF-8, so that lines are found the same way in both. */
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
  /** Where the next range begins; undefined at the end of the file. */
  readonly next: number | undefined;
}

/** A negative `offset` counts from the end, as given by `size`. Empty beyond the end. */
export async function readByteRange(
  source: Source,
  size: number,
  { offset, limit, signal }: { offset: number; limit: number; signal: AbortSignal },
): Promise<ByteRange> {
  const start = offset < 0 ? Math.max(0, size + offset) : offset;
  // One byte more shows whether there is more: the size of files in /proc is 0 and says nothing.
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
