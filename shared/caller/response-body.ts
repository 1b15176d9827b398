/** Bytes for one HTTP reader: queued and counted here, because the platform's queue is unbounded. */
import { free } from "../free-buffer.ts";
import { TIMES } from "../limits.ts";

/** The most bytes handed on at a time. */
const PIECE = 256 * 1024;

export class ResponseBody {
  readonly stream: ReadableStream<Uint8Array>;
  /** Called when the reader left, or was disconnected, before the end. */
  onLeft: () => void = () => undefined;
  readonly #closed: (body: ResponseBody) => void;
  readonly #queue: Uint8Array[] = [];
  /** How many bytes of the queue's first entry have been handed on. */
  #at = 0;
  readonly #keepAlive: ReturnType<typeof setInterval> | undefined;
  #controller: ReadableByteStreamController | undefined;
  /** Set while the reader waits for more. */
  #asked: (() => void) | undefined;
  #queued = 0;
  /** Bytes handed to the reader, which count as in transit until it asks again. */
  #handed = 0;
  #ended = false;
  #impatience: ReturnType<typeof setTimeout> | undefined;

  /** `closed` is called once nothing is left of it; `keepAlive` is sent while nothing else is. */
  constructor(closed: (body: ResponseBody) => void, keepAlive?: Uint8Array) {
    this.#closed = closed;
    if (keepAlive) this.#keepAlive = setInterval(() => this.#stayAlive(keepAlive), TIMES.streamKeepAlive);
    this.stream = new ReadableStream({
      type: "bytes",
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#pull(),
      cancel: () => this.#leave(),
    });
  }

  /** Bytes that the reader has not taken yet. */
  get queued(): number {
    return this.#queued + this.#handed;
  }

  get isOver(): boolean {
    return this.#ended;
  }

  /** Takes ownership of `bytes`: their memory is freed as soon as they have been read. */
  push(bytes: Uint8Array): void {
    if (this.#ended) return;
    this.#queue.push(bytes);
    this.#queued += bytes.length;
    this.#hand();
  }

  /** Ends the body after what was pushed. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#keepAlive) clearInterval(this.#keepAlive);
    this.#closeWhenRead();
  }

  /** Ends the body at once, dropping the queue. */
  cut(): void {
    this.#leave();
    this.#close();
  }

  #pull(): Promise<void> {
    const handed = new Promise<void>((resolve) => {
      this.#asked = resolve;
    });
    this.#handed = 0;
    this.#hand();
    if (this.#ended) this.#closeWhenRead();
    return handed;
  }

  /** Hands the next piece to the waiting reader. */
  #hand(): void {
    const asked = this.#asked;
    const piece = asked && this.#next();
    if (!asked || !piece) return;
    this.#asked = undefined;
    this.#queued -= piece.length;
    this.#handed = piece.length;
    this.#controller?.enqueue(piece as Uint8Array<ArrayBuffer>);
    asked();
  }

  #next(): Uint8Array | undefined {
    const first = this.#queue[0];
    if (!first) return undefined;
    const isLast = first.length - this.#at <= PIECE;
    const piece = isLast && this.#at === 0 ? first : first.slice(this.#at, this.#at + PIECE);
    this.#at += PIECE;
    if (!isLast) return piece;
    this.#queue.shift();
    this.#at = 0;
    if (piece !== first) free(first.buffer);
    return piece;
  }

  /** After the end the object may hibernate: it does not wait for a reader that stopped reading. */
  #closeWhenRead(): void {
    if (this.#impatience) clearTimeout(this.#impatience);
    if (this.queued > 0) {
      this.#impatience = setTimeout(() => this.cut(), TIMES.streamDrain);
      return;
    }
    this.#closed(this);
    this.#close();
  }

  #close(): void {
    this.#controller?.close();
    const { byobRequest } = (this.#controller ?? {}) as {
      byobRequest?: { respond(bytes: number): void } | null;
    };
    byobRequest?.respond(0);
    this.#asked?.();
  }

  #stayAlive(bytes: Uint8Array): void {
    if (this.#queue.length === 0) this.push(bytes.slice());
  }

  #leave(): void {
    if (this.#keepAlive) clearInterval(this.#keepAlive);
    if (this.#impatience) clearTimeout(this.#impatience);
    for (const bytes of this.#queue.splice(0)) free(bytes.buffer);
    this.#queued = 0;
    this.#handed = 0;
    this.#closed(this);
    if (this.#ended) return;
    this.#ended = true;
    this.onLeft();
  }
}
