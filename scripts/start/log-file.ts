/** Log files of the children: appended, kept to two files of a bounded size, quoted when a child dies. */
import { closeSync, openSync, readFileSync, renameSync, statSync } from "node:fs";

/** A log is put aside at a start once it is larger, in bytes. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Runs `use` with a descriptor that appends to the file. */
export async function withLog<Result>(file: string, use: (fd: number) => Promise<Result>): Promise<Result> {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_BYTES) renameSync(file, `${file}.1`);
  const fd = openSync(file, "a", 0o600);
  try {
    return await use(fd);
  } finally {
    closeSync(fd);
  }
}

/** Bytes in the file now: where a child that starts now will begin to write. */
export function logEnd(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** The last lines written after `since`. */
export function lastLines(file: string, since: number, count = 12): string {
  const text = readFileSync(file).subarray(since).toString("utf8").trim();
  return text.split("\n").slice(-count).join("\n");
}
