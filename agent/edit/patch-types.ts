/** A parsed patch, the same for both formats. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";

export const BEGIN = "*** Begin Patch";
export const END = "*** End Patch";

/** `line` is a line of the patch, from 1. */
export function badPatchError(why: string, line?: number): MatrxError {
  return toolError("INVALID_PARAMETERS", `patch${line === undefined ? "" : `, line ${line}`}: ${why}`, {
    hint: `Send a unified diff, or lines between "${BEGIN}" and "${END}" with "*** Update File: PATH", "*** Add File: PATH" or "*** Delete File: PATH"`,
    details: { field: "patch", ...(line !== undefined && { line }) },
  });
}

export interface HunkLine {
  readonly kind: "same" | "old" | "new";
  /** Without its end. */
  readonly text: string;
  /** As in the patch. */
  readonly end: "\n" | "\r\n";
}

/** By a line's first character. */
export const LINE_KINDS: Readonly<Record<string, HunkLine["kind"]>> = { " ": "same", "-": "old", "+": "new" };

export interface Hunk {
  /** What messages call it. */
  readonly name: string;
  readonly lines: readonly HunkLine[];
  /** Where its old lines begin, from 1; 0 if there was no text; undefined if it does not say. */
  readonly line: number | undefined;
  /** Lines that come before it, in this order, not necessarily directly. */
  readonly headers: readonly string[];
  /** Whether its old lines are the last ones of the file. */
  readonly atEnd: boolean;
  /** Whether it says that the last line has no end: the old one, the new one. */
  readonly endless: { readonly old: boolean; readonly new: boolean };
  /** How many empty lines, without even the leading space, it ends with. */
  readonly blanks: number;
  /** What is wrong with it, if that does not matter. */
  readonly note: string | undefined;
}

export type FilePatch =
  | {
      readonly kind: "add";
      readonly path: string;
      readonly content: string;
      /** Before the umask. */
      readonly mode: number;
    }
  | {
      readonly kind: "update";
      readonly path: string;
      /** Its new path. */
      readonly to: string | undefined;
      readonly hunks: readonly Hunk[];
      /** Whether it can be run as a program then; undefined: as before. */
      readonly isProgram?: boolean | undefined;
    }
  | {
      readonly kind: "delete";
      readonly path: string;
      /** All of the content it must have; undefined for any content. */
      readonly hunks: readonly Hunk[] | undefined;
    };

/** Mode of a new file if the patch gives none, before the umask. */
export const USUAL_MODE = 0o666;

/** Joins lines with their ends. If `isEndless`, the last one gets none. */
export function textOf(lines: readonly HunkLine[], isEndless: boolean): string {
  const last = isEndless ? lines.length - 1 : -1;
  return lines.map(({ text, end }, index) => (index === last ? text : text + end)).join("");
}
