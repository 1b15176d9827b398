/** What a patch says, in whatever format it was written. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";

export const BEGIN = "*** Begin Patch";
export const END = "*** End Patch";

/** `line` is counted from 1. */
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
  /** As the patch has it. */
  readonly end: "\n" | "\r\n";
}

/** By the sign that a line begins with. */
export const LINE_KINDS: Readonly<Record<string, HunkLine["kind"]>> = { " ": "same", "-": "old", "+": "new" };

export interface Hunk {
  /** What messages call it. */
  readonly name: string;
  readonly lines: readonly HunkLine[];
  /** Where its old lines begin, counted from 1; 0: there was no text; undefined: it does not say. */
  readonly line: number | undefined;
  /** Lines that stand before it, in this order, not necessarily just before. */
  readonly headers: readonly string[];
  /** Its old lines are the last of the file. */
  readonly atEnd: boolean;
  /** What it says of the last line's end: it has none. */
  readonly endless: { readonly old: boolean; readonly new: boolean };
  /** How many of its last lines are empty, without even the leading space. */
  readonly blanks: number;
  /** What is wrong with it but does not matter. */
  readonly note: string | undefined;
}

export type FilePatch =
  | {
      readonly kind: "add";
      readonly path: string;
      readonly content: string;
      /** Permissions, before the user's mask. */
      readonly mode: number;
    }
  | {
      readonly kind: "update";
      readonly path: string;
      /** Its new path. */
      readonly to: string | undefined;
      readonly hunks: readonly Hunk[];
    }
  | {
      readonly kind: "delete";
      readonly path: string;
      /** What it must hold, all of it; undefined: whatever it holds. */
      readonly hunks: readonly Hunk[] | undefined;
    };

/** Permissions of a file if the patch gives none. */
export const USUAL_MODE = 0o666;

/** Lines with their ends; `isEndless`: the last one has none. */
export function textOf(lines: readonly HunkLine[], isEndless: boolean): string {
  const last = isEndless ? lines.length - 1 : -1;
  return lines.map(({ text, end }, index) => (index === last ? text : text + end)).join("");
}
