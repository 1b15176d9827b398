/** Reads what a command left for us: never more than it can rightly be. */
import { open } from "node:fs/promises";

/** Undefined if there is no such file, or it has more bytes than that. */
export async function smallFile(file: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    await using handle = await open(file);
    const buffer = Buffer.alloc(maxBytes + 1);
    let filled = 0;
    for (let read = -1; read !== 0 && filled <= maxBytes; filled += read)
      ({ bytesRead: read } = await handle.read(buffer, filled, buffer.length - filled, filled));
    return filled > maxBytes ? undefined : buffer.subarray(0, filled);
  } catch {
    return undefined;
  }
}
