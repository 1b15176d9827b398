/** Errors of editing, worded for users. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import type { ResolvedPath } from "../fs/access.ts";
import { lackingCharacter, type TextEncoding } from "../text/encodings.ts";
import { toolName } from "../text/tool-names.ts";

export const sha256Schema = z.string().regex(/^[0-9a-fA-F]{64}$/, "must be a SHA-256: 64 hexadecimal digits");

/** Throws MatrxError `CONFLICT` unless the content is the expected one. `found` is undefined if the file does not exist. */
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

/** `sha256` is that of the current content, if known. */
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

/** The file that is being edited. */
export interface Subject {
  /** Its path, for messages. */
  readonly shown: string;
  /** Whether messages may quote the file, because the caller may read it. */
  readonly mayQuote: boolean;
}

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

/** Where a text was found: ascending places in a text with plain line ends. */
export interface Occurrences {
  readonly plain: string;
  /** What messages call the text. */
  readonly name: string;
  readonly places: readonly number[];
}

export function notUnique(found: Occurrences, overlap: boolean, subject: Subject): MatrxError {
  const { at, details } = described(found);
  return refused(
    subject,
    "not_unique",
    `${found.name} occurs ${details.occurrences} times in ${subject.shown}${overlap ? ", some of them overlapping" : ""}: ${at}. Nothing was changed`,
    "Give more of the text around the one you mean, or set replace_all to change them all",
    details,
  );
}

export function wrongCount(found: Occurrences, expected: number, subject: Subject): MatrxError {
  const { at, details } = described(found);
  return refused(
    subject,
    "wrong_count",
    `${found.name} was expected ${expected} times in ${subject.shown} but occurs ${details.occurrences} times: ${at}. Nothing was changed`,
    "Look at these lines, then correct expected_replacements or give a longer text",
    { expected, ...details },
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
    `A file keeps its line ends; to change those, use ${toolName("Bash")}, such as sed -i 's/\\r$//'`,
  );
}

/** `remedy` says how the file's encoding is changed. */
export function notInEncoding(
  encoding: TextEncoding,
  name: string,
  text: string,
  subject: Subject,
  remedy = `to change the file's encoding, use ${toolName("Bash")} with iconv`,
): MatrxError {
  const character = lackingCharacter(text, encoding) ?? "";
  const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
  return refused(
    subject,
    "not_in_encoding",
    `${subject.shown} is in ${encoding}, which has no "${character}" (U+${code}); ${name} contains it. Nothing was changed`,
    `Use characters that this encoding has; give encoding if the file is in another one; ${remedy}`,
    { encoding, character },
  );
}

/** How many line numbers a message lists. */
const MOST_LINES = 20;

/** The lines with occurrences, in words and for programs; each line once. */
function described({ plain, places }: Occurrences) {
  const lines: number[] = [];
  let line = 1;
  let next = plain.indexOf("\n");
  for (const place of places) {
    for (; next !== -1 && next < place; next = plain.indexOf("\n", next + 1)) line++;
    if (lines.at(-1) !== line) lines.push(line);
    if (lines.length === MOST_LINES) break;
  }
  const more = lines.length === MOST_LINES && places.length > MOST_LINES ? " and further on" : "";
  return {
    at: `${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}${more}`,
    details: { occurrences: places.length, lines },
  };
}
