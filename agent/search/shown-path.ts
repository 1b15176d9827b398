/** Paths of what was found as a caller reads them: relative to the folder that was searched. */
import type { FileAccess } from "../paths/files.ts";
import { quotedName, shownBytes, shownName } from "../paths/names.ts";

/** A path that could be taken for one of our notes is quoted. */
export function pathShown(relative: Buffer): string {
  const shown = shownBytes(relative);
  return /^\[.*\]$/.test(shown) ? quotedName(shown) : shown;
}

/** Before a line number: a path that could be taken for one with a number is quoted. */
export function fileShown(relative: Buffer): string {
  const shown = shownBytes(relative);
  const isPlain = !/:\d+:/.test(shown) && !shown.startsWith("[");
  return isPlain || shown.startsWith('"') ? shown : quotedName(shown);
}

/** A canonical path as it is shown from a folder; what lies elsewhere keeps all of it. */
export function relativePath(canonical: Buffer, folder: string, separator: string): string {
  const prefix = Buffer.from(folder.endsWith(separator) ? folder : folder + separator);
  const isWithin = canonical.subarray(0, prefix.length).equals(prefix);
  return pathShown(isWithin ? canonical.subarray(prefix.length) : canonical);
}

/** Says what paths are relative to, where that is not the session's working directory. */
export async function relativeToNote(access: FileAccess, folder: string): Promise<string[]> {
  const here = await access.find(".", "read").catch(() => undefined);
  return here?.path === folder ? [] : [`Paths are relative to ${shownName(folder)}`];
}
