/**
 * What is typed into a pseudo terminal, while its program does not read it. The library queues it without a bound, asks the
 * system again and again without a pause, and may write after its descriptor was closed.
 */
import { writeSync } from "node:fs";
import { hasCode } from "../../fs/errors.ts";
import { TERMINAL_LIMITS } from "../protocol.ts";

/** How soon a full terminal is tried again, in milliseconds. */
const RETRY_MS = { first: 2, most: 64 } as const;

export class PtyInput {
  readonly #fd: number;
  readonly #queue: Buffer[] = [];
  #bytes = 0;
  #retry: NodeJS.Timeout | undefined;
  #retryMs: number = RETRY_MS.first;
  #isClosed = false;
  #drained = Promise.withResolvers<void>();

  /** The descriptor of the terminal's own side; it does not block. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Whether so much waits that no more should come. */
  get isFull(): boolean {
    return this.#bytes > TERMINAL_LIMITS.inputBytes;
  }

  write(bytes: Buffer): void {
    if (this.#isClosed || bytes.length === 0) return;
    this.#queue.push(bytes);
    this.#bytes += bytes.length;
    if (this.#retry === undefined) this.#flush();
  }

  /** Resolves when it is not full. */
  async drained(): Promise<void> {
    while (this.isFull && !this.#isClosed) await this.#drained.promise;
  }

  /** The descriptor is closed, or about to be: its number may soon be another file's. */
  close(): void {
    this.#isClosed = true;
    this.#queue.length = 0;
    clearTimeout(this.#retry);
    this.#tellDrained();
  }

  #flush(): void {
    this.#retry = undefined;
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      const written = this.#tryToWrite(next);
      if (written === undefined) return this.close();
      this.#bytes -= written;
      if (written > 0) this.#retryMs = RETRY_MS.first;
      if (written === next.length) continue;
      this.#queue.unshift(next.subarray(written));
      this.#retry = setTimeout(() => this.#flush(), this.#retryMs);
      this.#retryMs = Math.min(RETRY_MS.most, this.#retryMs * 2);
      break;
    }
    if (!this.isFull) this.#tellDrained();
  }

  /** How many bytes went in; undefined if nobody has the terminal open any more. */
  #tryToWrite(bytes: Buffer): number | undefined {
    try {
      return writeSync(this.#fd, bytes);
    } catch (error) {
      return hasCode(error, "EAGAIN") ? 0 : undefined;
    }
  }

  #tellDrained(): void {
    const { resolve } = this.#drained;
    this.#drained = Promise.withResolvers();
    resolve();
  }
}
