/** What a search says of itself: why it ended, and what it could not look into. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { counted } from "../text/counted.ts";
import type { LineQuery, Missed } from "./engine.ts";

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
