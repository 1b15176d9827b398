/** Moves an entry into a trash folder under a free name, with a note of where it was (freedesktop.org Trash specification). */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, unlink } from "node:fs/promises";
import path from "node:path";
import type { FileAccess } from "../fs/access.ts";
import { hasCode } from "../fs/errors.ts";
import type { OpenedEntry } from "../fs/file-handle.ts";
import { syncFolder } from "../fs/make-folders.ts";
import { renameNoReplace } from "../fs/rename.ts";
import type { Directory } from "../platform/directory.ts";
import type { Platform, TrashFolder } from "../platform/platform.ts";

/** How much of a name is kept: with a number and the note's extension it must fit into 255 bytes. */
const NAME_BYTES = 220;
/** How many numbered names are tried before a random one. */
const MOST_NUMBERED = 50;

export interface OpenedTrash {
  readonly directory: Directory;
  /** Canonical. */
  readonly path: string;
}

/** Returns its new path. Throws the system's error: EXDEV if the trash is on another file system. */
export async function putIntoFolder(
  platform: Platform,
  entry: OpenedEntry,
  trash: OpenedTrash,
  { files, info, writtenFrom }: TrashFolder,
): Promise<string> {
  const trashed = files ? await openPart(trash.directory, files) : trash.directory;
  const notes = info ? await openPart(trash.directory, info) : undefined;
  try {
    const note = noteOf(entry.place.path, writtenFrom, new Date());
    for (const name of namesFor(entry.name)) {
      if (notes && !(await writeNote(notes, name, note))) continue;
      try {
        // Programs that ignore the specification may have put something there without a note.
        await renameNoReplace(entry, { parent: trashed, name }, platform);
      } catch (error) {
        if (notes) await unlink(notes.at(noteName(name)));
        if (hasCode(error, "EEXIST", "ENOTEMPTY")) continue;
        throw error;
      }
      await syncFolder(trashed.self);
      return path.join(trash.path, files ?? "", name);
    }
    throw new Error("no free name in the trash");
  } finally {
    await notes?.close();
    if (trashed !== trash.directory) await trashed.close();
  }
}

async function openPart(trash: Directory, name: string): Promise<Directory> {
  await mkdir(trash.at(name), 0o700).catch((error: unknown) => {
    if (!hasCode(error, "EEXIST")) throw error;
  });
  return await trash.openFolder(Buffer.from(name), () => undefined);
}

/** The name itself, then numbered ones, then a random one. */
function* namesFor(name: string): Generator<string> {
  const { name: stem, ext } = path.parse(name);
  const ending = Buffer.byteLength(ext) > 20 ? "" : ext;
  const short = shortened(ending ? stem : name, NAME_BYTES - Buffer.byteLength(ending));
  yield short + ending;
  for (let number = 2; number < MOST_NUMBERED; number++) yield `${short} ${number}${ending}`;
  yield `${short} ${randomBytes(8).toString("hex")}${ending}`;
}

function shortened(text: string, bytes: number): string {
  let short = "";
  let used = 0;
  for (const character of text) {
    used += Buffer.byteLength(character);
    if (used > bytes) break;
    short += character;
  }
  return short;
}

function noteName(name: string): string {
  return `${name}.trashinfo`;
}

/** Written before the entry is moved: it reserves the name. Returns false if the name is taken. */
async function writeNote(notes: Directory, name: string, text: string): Promise<boolean> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  try {
    const handle = await open(notes.at(noteName(name)), flags, 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

/** `Path` is percent-encoded, `DeletionDate` is local time without a zone. */
export function noteOf(original: string, writtenFrom: string | undefined, when: Date): string {
  const written = writtenFrom === undefined ? original : path.posix.relative(writtenFrom, original);
  const encoded = written.split("/").map(encodeURIComponent).join("/");
  const local = new Date(when.getTime() - when.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
  return `[Trash Info]\nPath=${encoded}\nDeletionDate=${local}\n`;
}

/**
 * Deletes the note of an entry that is no longer at this path; outside the trash there is none. Never throws, because a
 * leftover note does no harm.
 */
export async function forgetNote(access: FileAccess, path: string): Promise<void> {
  const { basename, dirname, join } = access.platform.path;
  const files = dirname(path);
  if (basename(files) !== "files") return;
  const note = join(dirname(files), "info", noteName(basename(path)));
  try {
    const place = await access.findEntry(note, "remove");
    if (place.missing.length > 0) return;
    const { folder, name } = access.parentOf(place);
    const info = await access.openFolder(folder, place.shown);
    await unlink(info.at(name)).finally(() => info.close());
  } catch {
    // The note stays, and points to nothing.
  }
}
