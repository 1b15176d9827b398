/**
 * A job's output in files. Offsets count all bytes that the job ever wrote, also when the middle of them was cut:
 * `log.head` (the beginning), a gap, `log.tail`, and `log`, the live end that the job appends to.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { open, rename, stat } from "node:fs/promises";
import path from "node:path";
import type { JobLimits } from "./limits.ts";
import type { JobRecord } from "./record.ts";

/** A job that writes faster than this many looks loses a little at a cut. */
const MOVE_ROUNDS = 8;

export interface LogPart {
  readonly bytes: Buffer;
  /** Offset of the first byte: later than asked for when those in between were cut. */
  readonly offset: number;
}

export class JobLog {
  readonly file: string;
  readonly #directory: string;
  readonly #limits: JobLimits;
  #shape: JobRecord["log"];
  /** Reading and cutting take turns. */
  #turn: Promise<unknown> = Promise.resolve();

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
    return this.#inTurn(async () => this.#shape.base + (await this.#liveSize()));
  }

  /** At most `length` bytes from an offset; fewer at the end of a part. None: the end of the log. */
  read(offset: number, length: number): Promise<LogPart> {
    return this.#inTurn(async () => {
      const { base, headBytes, tailBytes } = this.#shape;
      const tailStart = base - tailBytes;
      if (offset < headBytes) return this.#part("log.head", 0, offset, Math.min(length, headBytes - offset));
      const from = Math.max(offset, tailStart);
      if (from < base) return this.#part("log.tail", tailStart, from, Math.min(length, base - from));
      return this.#part("log", base, from, length);
    });
  }

  /** Cuts the middle out when the live end has grown too long. Tells whether it did. */
  async cut(): Promise<boolean> {
    return this.#inTurn(async () => {
      const { logHeadBytes, logTailBytes, logLiveBytes } = this.#limits;
      const { base, headBytes } = this.#shape;
      const live = await this.#liveSize();
      if (live <= logLiveBytes) return false;
      if (base === 0) await this.#keep("log.head", 0, logHeadBytes);
      const tailStart = Math.max(live - logTailBytes, base === 0 ? logHeadBytes : 0);
      await this.#keep("log.tail", tailStart, live - tailStart);
      const end = this.#moveRest(live);
      this.#shape = {
        base: base + end,
        headBytes: base === 0 ? logHeadBytes : headBytes,
        tailBytes: end - tailStart,
      };
      return true;
    });
  }

  /**
   * Moves what was written meanwhile, and empties the live end: at once, because what a job writes between the last
   * look and the emptying is lost. The job appends, so it goes on at the new start of the file.
   */
  #moveRest(moved: number): number {
    const from = openSync(this.file, "r+");
    const to = openSync(path.join(this.#directory, "log.tail"), "a");
    let end = moved;
    try {
      for (let round = 0; round < MOVE_ROUNDS; round++) {
        const rest = Buffer.allocUnsafe(fstatSync(from).size - end);
        if (rest.length === 0) break;
        const read = readSync(from, rest, 0, rest.length, end);
        writeSync(to, rest, 0, read);
        end += read;
      }
      ftruncateSync(from, 0);
    } finally {
      closeSync(from);
      closeSync(to);
    }
    return end;
  }

  async #part(file: string, begin: number, offset: number, length: number): Promise<LogPart> {
    const handle = await open(path.join(this.#directory, file), "r");
    try {
      const buffer = Buffer.allocUnsafe(length);
      const { bytesRead } = await handle.read(buffer, 0, length, offset - begin);
      return { bytes: buffer.subarray(0, bytesRead), offset };
    } finally {
      await handle.close();
    }
  }

  async #keep(file: string, start: number, length: number): Promise<void> {
    const target = path.join(this.#directory, file);
    const temporary = `${target}.new`;
    const from = await open(this.file, "r");
    const to = await open(temporary, "w", 0o600);
    try {
      const buffer = Buffer.allocUnsafe(1024 * 1024);
      for (let done = 0; done < length; ) {
        const wanted = Math.min(buffer.length, length - done);
        const { bytesRead } = await from.read(buffer, 0, wanted, start + done);
        if (bytesRead === 0) break;
        await to.write(buffer, 0, bytesRead);
        done += bytesRead;
      }
    } finally {
      await from.close();
      await to.close();
    }
    await rename(temporary, target);
  }

  async #liveSize(): Promise<number> {
    return (await stat(this.file)).size;
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(action, action);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}
