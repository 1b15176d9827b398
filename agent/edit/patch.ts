/** What a patch says, in whatever format it was written. */

export interface HunkLine {
  readonly kind: "same" | "old" | "new";
  /** Without its end. */
  readonly text: string;
}

export interface Hunk {
  /** What messages call it. */
  readonly name: string;
  readonly lines: readonly HunkLine[];
  /** Where its old lines begin, counted from 1; undefined: it does not say. */
  readonly line: number | undefined;
  /** Lines that stand before it, in this order, not necessarily just before. */
  readonly headers: readonly string[];
  /** Its old lines are the last of the file. */
  readonly atEnd: boolean;
  /** What it says of the last line's end: it has none. */
  readonly endless: { readonly old: boolean; readonly new: boolean };
}

export type FilePatch =
  | { readonly kind: "add"; readonly path: string; readonly content: string }
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
