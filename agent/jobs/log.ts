/**
 * A job's output in files. Offsets count all bytes that the job ever wrote, even if the middle was cut out:
 * `log.head` (the beginning), a gap, `log.tail`, and `log`, the live end that the job appends to.
 */
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { open, stat } from "node:fs/promises";
import path from "node:path";
import { Mutex } from "@matrx/shared/mutex.ts";
import type { JobLimits, JobRecord } from "./record.ts";

/** A job that keeps writing through this many rounds loses a little at a cut. */
const MOVE_ROUNDS = 4;

export interface LogPart {
  readonly bytes: Buffer;
  /** Offset of the first byte; later than requested if the bytes there were cut. */
  readonly offset: number;
}

export class JobLog {
  readonly file: string;
  readonly #directory: string;
  readonly #limits: JobLimits;
  #shape: JobRecord["log"];
  /** Reads and cuts run one at a time. */
  readonly #mutex = new Mutex();

  constructor(directory: string, shape: JobRecord["log"], limits: JobLimits) {
    this.#directory = directory;
    this.file = path.join(directory, "log");
    this.#shape = shape;
    this.#limits = limits;
  }

  get shape(): JobRecord["log"] {
    return this.#shape;
  }

  /** Bytes that were cut out of the middle. */
  get cutBytes(): number {
    const { base, headBytes, tailBytes } = this.#shape;
    return base - headBytes - tailBytes;
  }

  /** Offset of the end. */
  size(): Promise<number> {
    return this.#mutex.runExclusive(async () => this.#shape.base + (await this.#liveSize()));
  }

  /** When the last bytes were written, in milliseconds since 1970. */
  async lastWrite(): Promise<number> {
    return (await stat(this.file)).mtimeMs;
  }

  /** At most `length` bytes from an offset; fewer at the end of a part, none at the end of the log. */
  read(offset: number, length: number): Promise<LogPart> {
    return this.#mutex.runExclusive(async () => {
      const { base, headBytes, tailBytes } = this.#shape;
      const tailStart = base - tailBytes;
      if (offset < headBytes) return this.#part("log.head", 0, offset, Math.min(length, headBytes - offset));
      const from = Math.max(offset, tailStart);
      if (from < base) {
        const part = await this.#part("log.tail", tailStart, from, Math.min(length, base - from));
        // It is empty if this program died once it had given up its room.
        if (part.bytes.length > 0) return part;
      }
      return this.#part("log", base, Math.max(from, base), length);
    });
  }

  /** Cuts out the middle if the live end has grown too long. Returns whether it did. */
  async cut(): Promise<boolean> {
    return this.#mutex.runExclusive(async () => {
      const { logHeadBytes, logLiveBytes } = this.#limits;
      const { base, headBytes } = this.#shape;
      if ((await this.#liveSize()) <= logLiveBytes) return false;
      if (base === 0) await this.#keepHead(logHeadBytes);
      const { cutAt, tailBytes } = this.#emptyLiveEnd(base === 0 ? logHeadBytes : 0);
      this.#shape = { base: base + cutAt, headBytes: base === 0 ? logHeadBytes : headBytes, tailBytes };
      return true;
    });
  }

  /** On a full drive, what was kept at the last cut gives up its room: it would be cut now. */
  #emptyLiveEnd(earliest: number): { cutAt: number; tailBytes: number } {
    try {
      return this.#moveLiveEnd(earliest);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC" || this.#shape.tailBytes === 0) throw error;
      truncateSync(path.join(this.#directory, "log.tail"));
      this.#shape = { ...this.#shape, tailBytes: 0 };
      return this.#moveLiveEnd(earliest);
    }
  }

  /**
   * Moves the last bytes of the live end away and empties it. Synchronous, because whatever the job writes between the last
   * read and the truncation is lost. The job appends, so it continues at the new start. What was moved away before stays until
   * the new bytes are written.
   */
  #moveLiveEnd(earliest: number): { cutAt: number; tailBytes: number } {
    const from = openSync(this.file, "r+");
    const tail = path.join(this.#directory, "log.tail");
    const next = `${tail}.next`;
    const to = openSync(next, "w", 0o600);
    try {
      let cutAt = earliest;
      let tailBytes = 0;
      for (let round = 0; round < MOVE_ROUNDS; round++) {
        const end = fstatSync(from).size;
        if (end === cutAt) break;
        const isNear = end - cutAt <= this.#limits.logTailBytes && round > 0;
        const start = isNear ? cutAt : Math.max(earliest, end - this.#limits.logTailBytes);
        const bytes = Buffer.allocUnsafe(end - start);
        const read = readSync(from, bytes, 0, bytes.length, start);
        tailBytes = isNear ? tailBytes : 0;
        for (let done = 0; done < read; ) done += writeSync(to, bytes, done, read - done, tailBytes + done);
        tailBytes += read;
        cutAt = start + read;
      }
      renameSync(next, tail);
      ftruncateSync(from, 0);
      ftruncateSync(to, tailBytes);
      return { cutAt, tailBytes };
    } catch (error) {
      rmSync(next, { force: true });
      throw error;
    } finally {
      closeSync(from);
      closeSync(to);
    }
  }

  async #keepHead(length: number): Promise<void> {
    const from = await open(this.file, "r");
    const to = await open(path.join(this.#directory, "log.head"), "w", 0o600);
    try {
      const buffer = Buffer.allocUnsafe(1024 * 1024);
      for (let done = 0; done < length; ) {
        const { bytesRead } = await from.read(buffer, 0, Math.min(buffer.length, length - done), done);
        if (bytesRead === 0) break;
        await to.writeFile(buffer.subarray(0, bytesRead));
        done += bytesRead;
      }
    } finally {
      await from.close();
      await to.close();
    }
  }

  async #part(file: string, begin: number, offset: number, length: number): Promise<LogPart> {
    await using handle = await open(path.join(this.#directory, file), "r");
    const buffer = Buffer.allocUnsafe(length);
    const { bytesRead } = await handle.read(buffer, 0, length, offset - begin);
    return { bytes: buffer.subarray(0, bytesRead), offset };
  }

  async #liveSize(): Promise<number> {
    return (await stat(this.file)).size;
  }
}
