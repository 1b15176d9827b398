/** Changes in one folder, gathered until they are reported together: all are counted, the first are named. */
import type { EventData } from "../events/report.ts";

export type FileChange = "added" | "changed" | "removed";

export interface ChangedFile {
  /** Below the folder. */
  readonly path: string;
  readonly change: FileChange;
}

/** Names in one event, and what they take together as JSON, in bytes; the count goes on. */
const NAMED = 20;
const NAMED_BYTES = 4000;

export interface FileBatch {
  readonly count: number;
  readonly files: readonly ChangedFile[];
}

export const EMPTY_BATCH: FileBatch = { count: 0, files: [] };

export function withFiles(batch: FileBatch, more: FileBatch): FileBatch {
  const files = [...batch.files];
  let bytes = Buffer.byteLength(JSON.stringify(files));
  for (const file of more.files) {
    bytes += Buffer.byteLength(JSON.stringify(file));
    if (files.length >= NAMED || bytes > NAMED_BYTES) break;
    files.push(file);
  }
  return { count: batch.count + more.count, files };
}

/** Joins the data of two events of one folder. */
export function joinBatches(earlier: EventData, later: EventData): EventData {
  return { ...earlier, ...withFiles(batchIn(earlier), batchIn(later)) };
}

function batchIn({ count, files }: EventData): FileBatch {
  return { count: Number(count), files: files as ChangedFile[] };
}
