/** How much room a file system has. */
import { statfs } from "node:fs/promises";

export interface DiskRoom {
  /** What this user may still write. */
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** With what is kept for the system's administrator, this and what is free are the total. */
  readonly usedBytes: number;
}

/** Of the file system that holds a path. A dead drive may never answer. */
export async function roomAt(path: string): Promise<DiskRoom> {
  const { bavail, bfree, blocks, bsize } = await statfs(path);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize, usedBytes: (blocks - bfree) * bsize };
}
