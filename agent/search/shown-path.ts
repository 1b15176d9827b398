/** Paths of results as callers see them: relative to the folder that was searched. */
import type { FileAccess } from "../fs/access.ts";
import { quotedName, shownBytes, shownName } from "../fs/display-name.ts";

/** Quotes a path that could be mistaken for one of our notes. */
export function pathShown(relative: Buffer): string {
  const shown = shownBytes(relative);
  return /^\[.*\]$/.test(shown) ? quotedName(shown) : shown;
}

/** Before a line number: quotes a path that could be mistaken for one with a number. */
export function fileShown(relative: Buffer): string {
  const shown = shownBytes(relative);
  const isPlain = !/:\d+:/.test(shown) && !shown.startsWith("[");
  return isPlain || shown.startsWith('"') ? shown : quotedName(shown);
}

/** A canonical path as shown from a folder; outside it, the whole path. */
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
