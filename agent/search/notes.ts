/** Notes on a search: why it ended, and what it could not search. */
import { MatrxError } from "@matrx/shared/errors.ts";
import type { FileAccess } from "../fs/access.ts";
import { counted } from "../text/counted.ts";
import { quotedName, shownBytes, shownName } from "../text/display-name.ts";
import { cutShort, type LineQuery, type Missed, nothingMissed, type Run } from "./engine.ts";
import type { Scope } from "./scope.ts";

/** How long to look there: this, plus three times as long as the search took; in milliseconds. */
const LOOK_MS = 2000;

/** The path of one result of a wider search, relative or not. */
type FindOne = (run: Run) => Promise<string | undefined>;

interface Searched {
  readonly scope: Scope;
  /** How long it took, in milliseconds. */
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** A note for a search without results, if something left out would have matched. Throws MatrxError. */
export async function leftOutNote({ scope, ms, signal }: Searched, findOne: FindOne): Promise<string> {
  // A file given as path is searched whatever its name is.
  if (scope.file !== undefined || (scope.showHidden && scope.includeIgnored)) return "";
  const soon = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(LOOK_MS + 3 * ms))]);
  const missed: Missed = nothingMissed();
  const found = await findOne({ scope: widened(scope), missed, signal: soon });
  throwUnlessTimedOut(signal);
  if (found === undefined)
    return cutShort({ signal: soon, missed }) ? `. Left out: ${waysOf(scope).join(", ")}` : "";
  return `. Found in what was left out: ${waysTo(scope, found).join(", ")}`;
}

/** Git's own files are never meant. */
function widened(scope: Scope): Scope {
  const { join } = scope.access.platform.path;
  const leftOut = [...scope.leftOut, join(scope.folder, ".git")];
  return { ...scope, showHidden: true, includeIgnored: true, above: undefined, leftOut };
}

const IGNORED = "what .gitignore excludes (include_ignored=true)";
const HIDDEN = "dotfiles (show_hidden=true)";

function waysOf({ showHidden, includeIgnored }: Scope): string[] {
  return [...(includeIgnored ? [] : [IGNORED]), ...(showHidden ? [] : [HIDDEN])];
}

/** How to find what is at a path. */
function waysTo(scope: Scope, path: string): string[] {
  const { relative, isAbsolute, sep } = scope.access.platform.path;
  const below = isAbsolute(path) ? relative(scope.folder, path) : path;
  const names = below.split(sep).flatMap((name) => name.split("/"));
  const isHidden = names.some((name) => name.startsWith("."));
  return isHidden && !scope.showHidden ? [HIDDEN] : [IGNORED];
}

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

/** A hint at what a pattern without results was probably meant to find. */
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
