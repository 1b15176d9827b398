/** Changes in one folder, gathered until they are reported together: all are counted, the first are named. */
import type { EventData } from "../events/report.ts";

export type FileChange = "added" | "changed" | "removed";

export interface ChangedFile {
  /** Below the folder. */
  readonly path: string;
  readonly change: FileChange;
}

/** Names in one event, and their characters together; the count goes on. */
const NAMED = 20;
const NAMED_CHARS = 2000;

export interface FileBatch {
  readonly count: number;
  readonly files: readonly ChangedFile[];
}

export const EMPTY_BATCH: FileBatch = { count: 0, files: [] };

export function withFiles(batch: FileBatch, more: FileBatch): FileBatch {
  const files = [...batch.files];
  let chars = files.reduce((sum, { path }) => sum + path.length, 0);
  for (const file of more.files) {
    chars += file.path.length;
    if (files.length >= NAMED || chars > NAMED_CHARS) break;
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
