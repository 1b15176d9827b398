/** Why a text could not be edited, in words for the reader outside. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { toolName } from "../core/tool-names.ts";
import type { ResolvedPath } from "../fs/access.ts";
import { lackingCharacter, type TextEncoding } from "../text/encodings.ts";

export const sha256Schema = z.string().regex(/^[0-9a-fA-F]{64}$/, "must be a SHA-256: 64 hexadecimal digits");

/** Throws MatrxError `CONFLICT` when a content is not the one that was expected; `found` undefined: there is none. */
export function checkSha256(
  found: string | undefined,
  expected: string | undefined,
  place: ResolvedPath,
): void {
  if (expected === undefined || found === expected.toLowerCase()) return;
  throw toolError(
    "CONFLICT",
    found
      ? `${place.shown} has changed: its SHA-256 is ${found}`
      : `${place.shown} does not exist, so it cannot have the expected content`,
    { hint: "Read it again, then write", details: { path: place.shown, ...(found && { sha256: found }) } },
  );
}

/** `sha256`: of its content now; undefined: not known. */
export function changedError(place: ResolvedPath, sha256: string | undefined): MatrxError {
  return toolError(
    "CONFLICT",
    `${place.shown} has changed since this session read or wrote it${sha256 ? `: its SHA-256 is now ${sha256}` : ""}. Nothing was written`,
    {
      hint: "Read it again, then write; to replace it anyway, give its current SHA-256 as expected_sha256",
      details: { path: place.shown, reason: "changed", ...(sha256 && { sha256 }) },
    },
  );
}

/** What is edited. */
export interface Subject {
  /** Its path, for messages. */
  readonly shown: string;
  /** Messages may show what the file holds: the caller may read. */
  readonly mayQuote: boolean;
}

/** Line numbers named in one message. */
const MOST_LINES = 20;

export function refused(
  subject: Subject,
  reason: string,
  message: string,
  hint: string,
  details: Record<string, unknown> = {},
): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", message, {
    hint,
    details: { path: subject.shown, reason, ...details },
  });
}

/** `places` are ascending, in a text with plain line ends. */
export function notUnique(
  plain: string,
  name: string,
  places: readonly number[],
  overlap: boolean,
  subject: Subject,
): MatrxError {
  const lines = linesAt(plain, places);
  return refused(
    subject,
    "not_unique",
    `${name} occurs ${places.length} times in ${subject.shown}${overlap ? ", some of them overlapping" : ""}: ${inWords(lines, places.length)}. Nothing was changed`,
    "Give more of the text around the one you mean, or set replace_all to change them all",
    { occurrences: places.length, lines },
  );
}

export function wrongCount(
  plain: string,
  name: string,
  places: readonly number[],
  expected: number,
  subject: Subject,
): MatrxError {
  const lines = linesAt(plain, places);
  return refused(
    subject,
    "wrong_count",
    `${name} was expected ${expected} times in ${subject.shown} but occurs ${places.length} times: ${inWords(lines, places.length)}. Nothing was changed`,
    "Look at these lines, then correct expected_replacements or give a longer text",
    { expected, occurrences: places.length, lines },
  );
}

export function tooManyError(most: number, subject: Subject): MatrxError {
  return refused(
    subject,
    "too_many",
    `The text to replace occurs more than ${most} times in ${subject.shown}. Nothing was changed`,
    `Give more of the text around the one you mean; to change so many, use ${toolName("Bash")} with sed or perl`,
    { limit: most },
  );
}

export function overlapError(names: readonly string[], subject: Subject): MatrxError {
  return refused(
    subject,
    "overlap",
    `${names.join(" and ")} change the same text of ${subject.shown}. Nothing was changed`,
    "All edits are matched against the original file: combine these into one",
    { edits: names },
  );
}

export function noChangeError(subject: Subject): MatrxError {
  return refused(
    subject,
    "no_change",
    `Nothing would change in ${subject.shown}: the new text equals the old`,
    `A file keeps its line ends; to change those, use ${toolName("Write")} or ${toolName("Bash")}`,
  );
}

export function notInEncoding(
  encoding: TextEncoding,
  name: string,
  text: string,
  subject: Subject,
): MatrxError {
  const character = lackingCharacter(text, encoding) ?? "";
  const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
  return refused(
    subject,
    "not_in_encoding",
    `${subject.shown} is in ${encoding}, which has no "${character}" (U+${code}); ${name} contains it. Nothing was changed`,
    `Use characters that this encoding has; give encoding if the file is in another one; to change the file's encoding, use ${toolName("Bash")} with iconv`,
    { encoding, character },
  );
}

/** Line numbers of ascending places, each line once, as many as a message names. */
function linesAt(plain: string, places: readonly number[]): number[] {
  const lines: number[] = [];
  let line = 1;
  let next = plain.indexOf("\n");
  for (const place of places) {
    for (; next !== -1 && next < place; next = plain.indexOf("\n", next + 1)) line++;
    if (lines.at(-1) !== line) lines.push(line);
    if (lines.length === MOST_LINES) break;
  }
  return lines;
}

function inWords(lines: readonly number[], occurrences: number): string {
  const more = lines.length === MOST_LINES && occurrences > MOST_LINES ? " and further on" : "";
  return `${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}${more}`;
}
