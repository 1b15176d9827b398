/** Finds where the last lines of a file begin, reading from its end. */
import type { Source } from "./chunks.ts";

const CHUNK = 256 * 1024;
const LF = 10;

/** Byte offset of the last `lines` lines; undefined if they are longer than `maxBytes`. No line follows a line end at the very end. */
export async function tailStart(
  source: Source,
  size: number,
  lines: number,
  maxBytes: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const buffer = Buffer.allocUnsafe(CHUNK);
  let found = 0;
  for (let end = size; end > 0; ) {
    signal.throwIfAborted();
    if (size - end > maxBytes) return undefined;
    const begin = Math.max(0, end - CHUNK);
    const { bytesRead } = await source.read(buffer, 0, end - begin, begin);
    const piece = buffer.subarray(0, bytesRead);
    for (let at = piece.lastIndexOf(LF); at !== -1; at = at === 0 ? -1 : piece.lastIndexOf(LF, at - 1)) {
      if (begin + at === size - 1) continue;
      found++;
      if (found === lines) return begin + at + 1;
    }
    end = begin;
  }
  return 0;
}
