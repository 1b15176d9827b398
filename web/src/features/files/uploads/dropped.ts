/** Files and folders that were dropped on the page. */
import { MOST, type Picked } from "./queue.ts";

/** To be called while the drop is handled: later, the browser has forgotten them. */
export function droppedOf({ items }: DataTransfer): Promise<Picked[]> {
  const entries = Array.from(items, (item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  return allIn(entries);
}

/** At most `MOST` of them, and one more. */
async function allIn(entries: readonly FileSystemEntry[]): Promise<Picked[]> {
  const found: Picked[] = [];
  const waiting = [...entries];
  for (let entry = waiting.shift(); entry && found.length <= MOST; entry = waiting.shift()) {
    if (isFile(entry)) found.push({ name: entry.fullPath.replace(/^\/+/, ""), file: await fileOf(entry) });
    else if (isFolder(entry)) waiting.push(...(await entriesIn(entry)));
  }
  return found;
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
