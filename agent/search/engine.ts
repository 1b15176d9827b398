/** The interface of search engines: ripgrep, or this program itself. Their findings are checked before they are shown. */
import type { Scope } from "./scope.ts";

/** A line of a file, as an engine found it. */
export interface Hit {
  /** Relative to the scope's folder, as the file system has it, with `/` between names. */
  readonly path: Buffer;
  /** From 1. */
  readonly line: number;
  /** The offset of the line's first byte, after any byte order mark; for UTF-16, the offset in its UTF-8 form. */
  readonly offset: number;
  /** Where the match begins, in bytes from 1 (1 in any line of a `multiline` match); undefined for a context line. */
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
  /** Sorted by path, name by name, in byte order; otherwise in any order, which is faster. */
  readonly ordered: boolean;
}

/** What an engine could not search. */
export interface Missed {
  /** The system refused access, or the pattern took too long there. */
  unreadable: number;
  /** Too large for this engine. */
  large: number;
  /** Too many entries in a folder. */
  crowded: number;
  /** Files with matches that were searched only up to a NUL. */
  cut: number;
  /** Whether it ended early, since a named pipe would have kept it waiting. */
  atPipe: boolean;
}

export interface Run {
  readonly scope: Scope;
  readonly missed: Missed;
  /** When aborted, the engine and its generator end soon, without an error. */
  readonly signal: AbortSignal;
}

export interface Engine {
  readonly name: "ripgrep" | "javascript";
  /** Relative paths of ordinary files; the engine may already leave out those that do not match. */
  files(pattern: FileChoice, run: Run): AsyncGenerator<Buffer[], void>;
  /** The lines of a file come together and in order. Throws MatrxError `INVALID_PARAMETERS` for a bad pattern. */
  lines(query: LineQuery, run: Run): AsyncGenerator<Hit[], void>;
}

/** Why an engine ended before everything was searched. */
export function cutShort({ signal, missed }: Pick<Run, "signal" | "missed">): "time" | "pipe" | undefined {
  if (signal.aborted) return "time";
  return missed.atPipe ? "pipe" : undefined;
}

export function nothingMissed(): Missed {
  return { unreadable: 0, large: 0, crowded: 0, cut: 0, atPipe: false };
}
