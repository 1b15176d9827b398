/** Reads a rotated log (log-file.ts): first the last lines across all its files, then new ones. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { isNodeError } from "../platform/private-file.ts";
import { LOG_FILES } from "./log-file.ts";

/** A part of a file, and the file's inode. */
interface Piece {
  readonly inode: number;
  readonly bytes: Buffer;
}

export class LogReader {
  readonly #path: string;
  readonly #wanted: (line: string) => boolean;
  /** The file that was last read, and how far. */
  #inode: number | undefined;
  #offset = 0;
  /** The beginning of an unfinished line. */
  #begun: Uint8Array = Buffer.alloc(0);

  constructor(path: string, wanted: (line: string) => boolean) {
    this.#path = path;
    this.#wanted = wanted;
  }

  /** The last wanted lines, oldest first; undefined if there is no log. Each file is read whole: they are small. */
  last(count: number): string[] | undefined {
    let lines = this.fresh();
    let found = this.#inode !== undefined;
    for (let n = 1; n < LOG_FILES && lines.length < count; n++) {
      const older = pieceOf(`${this.#path}.${n}`, 0);
      if (!older) continue;
      found = true;
      lines = [...this.#linesOf(older.bytes), ...lines];
    }
    if (!found) return undefined;
    return count === 0 ? [] : lines.slice(-count);
  }

  /** The wanted lines added since the last call; at first, all of the newest file. */
  fresh(): string[] {
    const piece = this.#continued();
    if (!piece) return [];
    const end = piece.lastIndexOf("\n") + 1;
    this.#begun = piece.subarray(end);
    return this.#linesOf(piece.subarray(0, end));
  }

  #continued(): Buffer | undefined {
    const same = pieceOf(this.#path, this.#offset);
    if (!same) return undefined;
    if (same.inode === this.#inode) {
      this.#offset += same.bytes.length;
      return Buffer.concat([this.#begun, same.bytes]);
    }
    const old = this.#restOfOld();
    const fresh = pieceOf(this.#path, 0);
    this.#inode = fresh?.inode;
    this.#offset = fresh?.bytes.length ?? 0;
    return Buffer.concat([this.#begun, old, fresh?.bytes ?? Buffer.alloc(0)]);
  }

  /** What was written to the old file between the last read and its rotation. */
  #restOfOld(): Buffer {
    for (let n = 1; n < LOG_FILES && this.#inode !== undefined; n++) {
      const older = pieceOf(`${this.#path}.${n}`, this.#offset);
      if (older?.inode === this.#inode) return older.bytes;
    }
    return Buffer.alloc(0);
  }

  #linesOf(bytes: Buffer): string[] {
    return bytes
      .toString()
      .split("\n")
      .filter((line) => line !== "" && this.#wanted(line));
  }
}

/** The contents of a file from an offset; undefined if there is no such file. */
function pieceOf(path: string, offset: number): Piece | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if (isNodeError(error, "ENOENT")) return undefined;
    throw error;
  }
  try {
    const { ino, size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.max(0, size - offset));
    const read = readSync(file, bytes, 0, bytes.length, offset);
    return { inode: ino, bytes: bytes.subarray(0, read) };
  } finally {
    closeSync(file);
  }
}
