/** A log file that stays small: appended to line by line, rotated at a size limit, the oldest deleted. 0600. */
import { appendFileSync, closeSync, mkdirSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isNodeError } from "../platform/private-file.ts";

/** A file is rotated once it has this size, in bytes. */
const FILE_BYTES = 5 * 1024 * 1024;
/** Files of one log: `x.log` is written to, `x.log.1` is the one before it, `x.log.2` the oldest. */
export const LOG_FILES = 3;
/** A lock older than this, in milliseconds, was left behind. */
const LOCK_STALE = 10_000;

export interface LogFileOptions {
  readonly path: string;
  readonly maxBytes?: number;
  /** Called when the file cannot be written: once, until it can be written again. */
  readonly onFailure?: (cause: unknown) => void;
}

/**
 * Several programs may write the same log: no file is kept open, each line is one append, and whoever rotates the file
 * takes a lock and checks again.
 */
export class LogFile {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #onFailure: (cause: unknown) => void;
  /** Lines lost since the last one that was written. */
  #lost = 0;

  constructor({ path, maxBytes = FILE_BYTES, onFailure = () => undefined }: LogFileOptions) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#onFailure = onFailure;
  }

  /** Appends one line, which ends with a line feed. Never throws: a full disk must not stop the program that logs. */
  write(line: string): void {
    try {
      if (this.#isFull()) this.#rotate();
      append(this.#path, this.#lost > 0 ? lostLine(this.#lost) + line : line);
      this.#lost = 0;
    } catch (cause) {
      this.#lost++;
      if (this.#lost === 1) this.#onFailure(cause);
    }
  }

  /** A device or a pipe is never rotated. */
  #isFull(): boolean {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    return found?.isFile() === true && found.size >= this.#maxBytes;
  }

  #rotate(): void {
    const lock = `${this.#path}.lock`;
    if (!takeLock(lock)) return;
    try {
      if (!this.#isFull()) return;
      for (let n = LOG_FILES - 2; n >= 0; n--) {
        const from = n === 0 ? this.#path : `${this.#path}.${n}`;
        if (statSync(from, { throwIfNoEntry: false })) renameSync(from, `${this.#path}.${n + 1}`);
      }
    } finally {
      rmSync(lock, { force: true });
    }
  }
}

function append(path: string, text: string): void {
  const options = { mode: 0o600 };
  try {
    appendFileSync(path, text, options);
  } catch (error) {
    if (!isNodeError(error, "ENOENT")) throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    appendFileSync(path, text, options);
  }
}

/** False if another program is rotating the file now. */
function takeLock(lock: string): boolean {
  try {
    closeSync(openSync(lock, "wx", 0o600));
    return true;
  } catch (error) {
    if (!isNodeError(error, "EEXIST")) throw error;
    const found = statSync(lock, { throwIfNoEntry: false });
    if (found && Date.now() - found.mtimeMs > LOCK_STALE) rmSync(lock, { force: true });
    return false;
  }
}

function lostLine(lines: number): string {
  return `${JSON.stringify({ level: 50, time: Date.now(), lines, msg: "some lines of this log could not be written" })}\n`;
}
