/** The entries of an open folder with their types, some at a time. */
import { type Dir, type Dirent, opendirSync } from "node:fs";
import { opendir } from "node:fs/promises";
import { AS_BYTES } from "../fs/list-folder.ts";
import type { TimeSlice } from "../platform/time-slice.ts";

export interface ListedEntry {
  readonly name: Buffer;
  readonly type: "file" | "directory" | "symlink" | "other";
}

interface Some {
  readonly entries: readonly ListedEntry[];
  readonly isLast: boolean;
}

const AT_ONCE = AS_BYTES.bufferSize;

/** Throws the system's error. */
export async function* listedEntries(
  folder: string,
  slice: TimeSlice,
): AsyncGenerator<readonly ListedEntry[], void> {
  const opened = await slice.ask(
    () => opendirSync(folder, AS_BYTES),
    () => opendir(folder, AS_BYTES),
  );
  try {
    for (let isLast = false; !isLast; ) {
      const some: Some = await slice.ask(
        (isLate) => someOf(opened, isLate),
        () => someByThreads(opened),
      );
      yield some.entries;
      isLast = some.isLast;
      if (slice.isUp) await slice.rest();
    }
  } finally {
    opened.closeSync();
  }
}

function someOf(opened: Dir, isLate: () => boolean): Some {
  const entries: ListedEntry[] = [];
  while (entries.length < AT_ONCE && !isLate()) {
    const entry = opened.readSync();
    if (!entry) return { entries, isLast: true };
    entries.push(listed(entry));
  }
  return { entries, isLast: false };
}

async function someByThreads(opened: Dir): Promise<Some> {
  const entries: ListedEntry[] = [];
  while (entries.length < AT_ONCE) {
    const entry = await opened.read();
    if (!entry) return { entries, isLast: true };
    entries.push(listed(entry));
  }
  return { entries, isLast: false };
}

function listed(entry: Dirent): ListedEntry {
  return { name: entry.name as unknown as Buffer, type: typeOf(entry) };
}

export function typeOf(
  entry: Pick<Dirent, "isFile" | "isDirectory" | "isSymbolicLink">,
): ListedEntry["type"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "symlink" : "other";
}
