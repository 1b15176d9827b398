/**
 * What may be opened for a confined caller: folders, and documents of listed types. Anything else might run when opened.
 * The system opens by path, so there is a race: a file exchanged after this check goes unnoticed.
 */
import { lstat } from "node:fs/promises";
import path from "node:path";
import type { FileAccess, ResolvedPath } from "../fs/access.ts";
import { explained } from "../fs/errors.ts";
import { type OpenFile, openFile } from "../fs/open-file.ts";
import { sniff } from "../text/sniff.ts";
import { toolName } from "../text/tool-names.ts";
import { deniedError } from "./errors.ts";

const TEXTS = ["txt", "md", "log", "csv", "tsv", "json"];
const OTHERS = [
  ["pdf", "epub", "rtf", "docx", "xlsx", "pptx", "odt", "ods", "odp"],
  ["png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "heic", "avif"],
  ["mp3", "m4a", "aac", "flac", "wav", "ogg", "opus"],
  ["mp4", "m4v", "mov", "mkv", "webm", "avi"],
].flat();

const PROGRAMS: ReadonlySet<string> = new Set([
  "application/x-elf",
  "application/vnd.microsoft.portable-executable",
  "application/x-mach-binary",
]);
/** A script, a desktop entry, a Windows program. */
const PROGRAM_TEXT = /^(?:\ufeff|\u00ef\u00bb\u00bf)?\s*(?:#!|MZ|\[Desktop Entry\])|^\[Desktop Entry\]/m;
const HEAD_BYTES = 4096;
const ANY_EXECUTE_BIT = 0o111n;

/** Throws MatrxError `PERMISSION_DENIED` unless the place may be opened for a confined caller. */
export async function checkIsDocument(access: FileAccess, place: ResolvedPath): Promise<void> {
  if (await isFolder(access, place)) return checkIsFolder(access, place);
  const extension = path.extname(place.path).slice(1).toLowerCase();
  if (!TEXTS.includes(extension) && !OTHERS.includes(extension)) {
    throw refused(
      place,
      extension ? `a .${extension} file is not a plain document` : "its kind is not known",
    );
  }
  const file = await openFile(access, place.path);
  try {
    await checkContent(file, place, TEXTS.includes(extension));
  } finally {
    await file.handle.close();
  }
}

async function isFolder(access: FileAccess, place: ResolvedPath): Promise<boolean> {
  const { folder, name } = access.parentOf(place);
  if (name === "") return true;
  await using parent = await access.openFolder(folder, place.shown);
  return (await explained(place.shown, "open", () => lstat(parent.at(name)))).isDirectory();
}

function checkIsFolder(access: FileAccess, place: ResolvedPath): void {
  if (access.platform.desktop.isMoreThanFolder(path.basename(place.path))) {
    throw refused(place, "a folder with an extension may be a program");
  }
}

async function checkContent({ handle, stat }: OpenFile, place: ResolvedPath, isText: boolean): Promise<void> {
  const buffer = Buffer.alloc(HEAD_BYTES);
  const { bytesRead } = await handle.read(buffer, 0, HEAD_BYTES, 0);
  const head = buffer.subarray(0, bytesRead);
  const content = sniff(head);
  const isProgram =
    PROGRAM_TEXT.test(head.toString("latin1")) ||
    (content.kind === "binary" && PROGRAMS.has(content.mediaType)) ||
    (isText && content.kind !== "text");
  if (isProgram) throw refused(place, "its content does not match its name");
  // File managers run text that may be executed, with or without a first line that names a shell.
  if (isText && (stat.mode & ANY_EXECUTE_BIT) !== 0n) throw refused(place, "it is marked as executable");
}

function refused({ shown }: ResolvedPath, why: string) {
  return deniedError(
    `${shown} can't be opened: ${why}, and this call may not run programs`,
    `Folders, pictures, sound, video, PDF, text and office documents may be opened; look at others with ${toolName("Read")}`,
    { path: shown },
  );
}
