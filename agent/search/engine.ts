/** What finds files and lines: ripgrep, or this program itself. What it proposes is checked before it is shown. */
import type { Scope } from "./scope.ts";

/** A line of a file, as an engine found it. */
export interface Hit {
  /** Relative to the scope's folder, as the file system has it, with `/` between names. */
  readonly path: Buffer;
  /** From 1. */
  readonly line: number;
  /** Of the line's first byte, in the file after its byte order mark; of UTF-16, in what it would be as UTF-8. */
  readonly offset: number;
  /** Where the match begins, in bytes from 1 (1 in any line of a `multiline` match); undefined: a line of context. */
  readonly column: number | undefined;
  /** The line without its end (LF or CRLF), or a beginning of it. */
  readonly text: Buffer;
  readonly whole: boolean;
}

/** Files by their paths. */
export interface FileChoice {
  /** Every file's name matches one of these globs; a hint that all engines understand. */
  readonly nameHints: readonly string[];
  /** `path` is relative, with `/` between names. */
  matches(path: string): boolean;
}

export interface LineQuery {
  readonly pattern: string;
  readonly literal: boolean;
  readonly caseInsensitive: boolean;
  /** A match may span lines; every line it touches counts as matching. */
  readonly multiline: boolean;
  /** Lines of context before and after. */
  readonly before: number;
  readonly after: number;
  /** Only the first match of each file is wanted. */
  readonly firstOnly: boolean;
  /** Which files; undefined: all. */
  readonly include: FileChoice | undefined;
  /** By path, name by name, in order of bytes. Else in any order, which is faster. */
  readonly ordered: boolean;
}

/** What an engine could not look into. */
export interface Missed {
  /** The system refused, or the pattern took too long there. */
  unreadable: number;
  /** Too large for this engine. */
  large: number;
  /** Too many entries in a folder. */
  crowded: number;
  /** Lines were found in it, but it was searched only up to a NUL. */
  cut: number;
}

export interface Run {
  readonly scope: Scope;
  readonly missed: Missed;
  /** Aborted: the engine ends soon, and its generator with it, without an error. */
  readonly signal: AbortSignal;
}

export interface Engine {
  readonly name: "ripgrep" | "javascript";
  /** Relative paths of ordinary files; those that do not match may be left out already. */
  files(pattern: FileChoice, run: Run): AsyncGenerator<Buffer[], void>;
  /** Lines of a file come together, in their order. Throws MatrxError `INVALID_PARAMETERS` for a bad pattern. */
  lines(query: LineQuery, run: Run): AsyncGenerator<Hit[], void>;
}

export function nothingMissed(): Missed {
  return { unreadable: 0, large: 0, crowded: 0, cut: 0 };
}
