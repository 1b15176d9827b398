/** What a search says of itself: why it ended, and what it could not look into. */
import { MatrxError } from "@matrx/shared/errors.ts";
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
  if (large > 0) notes.push(`${counted(large, "file", "files")} above 16 MiB left out: ripgrep is not there`);
  if (crowded > 0) notes.push(`${counted(crowded, "entry", "entries")} of very large folders left out`);
  if (cut > 0) {
    notes.push(
      `${counted(cut, "file", "files")} with a NUL searched only up to it: name one as path to search all of it`,
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
    return ". A pattern is searched within a line: with multiline=true it may go over line breaks";
  if (/^\p{ASCII}*$/u.test(pattern)) return "";
  return ". What is not ASCII is found in UTF-8 and UTF-16 only, composed as the pattern has it";
}

export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
