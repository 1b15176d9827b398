/** Files and folders that were dropped on the page. */
import { MOST, type Picked } from "./queue.ts";

export interface Dropped {
  readonly files: readonly Picked[];
  /** Folders with nothing in them, by their paths below what was dropped on. */
  readonly emptyFolders: readonly string[];
  /** What the browser could not read. */
  readonly unreadable: readonly string[];
}

/** To be called while the drop is handled: later, the browser has forgotten them. At most `MOST` files, and one more. */
export function droppedOf({ items }: DataTransfer): Promise<Dropped> {
  const entries = Array.from(items, (item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  return allIn(entries);
}

async function allIn(entries: readonly FileSystemEntry[]): Promise<Dropped> {
  const files: Picked[] = [];
  const emptyFolders: string[] = [];
  const unreadable: string[] = [];
  const waiting = [...entries];
  for (let entry = waiting.shift(); entry && files.length <= MOST; entry = waiting.shift()) {
    const name = entry.fullPath.replace(/^\/+/, "");
    try {
      if (isFile(entry)) files.push({ name, file: await fileOf(entry) });
      else if (isFolder(entry)) {
        const within = await entriesIn(entry);
        if (within.length === 0) emptyFolders.push(name);
        waiting.push(...within);
      }
    } catch {
      unreadable.push(name);
    }
  }
  return { files, emptyFolders, unreadable };
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** Browsers tell some at a time. */
async function entriesIn(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/** Files that were chosen in a dialog, with the folder that they were chosen in. */
export function pickedOf(files: FileList): Picked[] {
  return Array.from(files, (file) => ({ name: file.webkitRelativePath || file.name, file }));
}
