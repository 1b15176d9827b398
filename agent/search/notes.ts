/** What a search says of itself: why it ended, and what it could not look into. */
import { MatrxError } from "@matrx/shared/errors.ts";
import type { FileAccess } from "../fs/access.ts";
import { quotedName, shownBytes, shownName } from "../fs/display-name.ts";
import { counted } from "../text/counted.ts";
import type { LineQuery, Missed } from "./engine.ts";

/** Bytes or characters of paths in one answer. */
export const MOST_CHARS = 2 * 1024 * 1024;

/** Characters of results in an answer, if the caller did not say how many are wanted. */
export const USUAL_CHARS = 25_000;

/** As many of the first entries as fit. */
export function fitting<Entry extends { readonly path: Buffer }>(
  entries: readonly Entry[],
): readonly Entry[] {
  return firstOf(entries, MOST_CHARS, ({ path }) => path.length);
}

/** As many of the first entries as fit into `most` together. */
export function firstOf<Entry>(
  entries: readonly Entry[],
  most: number,
  sizeOf: (entry: Entry) => number,
): readonly Entry[] {
  let size = 0;
  const end = entries.findIndex((entry) => {
    size += sizeOf(entry);
    return size > most;
  });
  return end < 0 ? entries : entries.slice(0, end);
}

/** Partial results are an answer when time ran out; throws the reason of any other stop. */
export function throwUnlessTimedOut(signal: AbortSignal): void {
  if (!signal.aborted) return;
  const { reason } = signal;
  if (!(reason instanceof MatrxError && reason.code === "TIMEOUT")) throw reason;
}

export function missedNotes({ unreadable, large, crowded, cut }: Missed): string[] {
  const notes: string[] = [];
  if (unreadable > 0)
    notes.push(`${counted(unreadable, "file or folder", "files or folders")} could not be searched`);
  if (large > 0) notes.push(`${counted(large, "file")} over 16 MiB left out: ripgrep is not installed`);
  if (crowded > 0) notes.push(`${counted(crowded, "entry", "entries")} of very large folders left out`);
  if (cut > 0) {
    notes.push(
      `${counted(cut, "file")} with a NUL byte searched only up to it: give one as path to search all of it`,
    );
  }
  return notes;
}

/** What a pattern that found nothing may have been meant to find. */
export function patternHint({
  pattern,
  literal,
  multiline,
}: Pick<LineQuery, "pattern" | "literal" | "multiline">): string {
  if (!literal && !multiline && /\n|\\n/.test(pattern))
    return ". Each line is searched by itself: with multiline=true a match may span lines";
  if (/^\p{ASCII}*$/u.test(pattern)) return "";
  return ". Non-ASCII text is found only in UTF-8 and UTF-16, composed as in the pattern";
}

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
