/** Bytes towards one HTTP reader: queued here, where they are counted, because the platform would queue without a bound. */
import { free } from "../free-buffer.ts";
import { TIMES } from "../limits.ts";

/** Handed on at a time, in bytes. */
const PIECE = 256 * 1024;

export class ResponseBody {
  readonly stream: ReadableStream<Uint8Array>;
  /** The reader went away, or was sent away, before the end. */
  onLeft: () => void = () => undefined;
  readonly #closed: (body: ResponseBody) => void;
  readonly #queue: Uint8Array[] = [];
  /** Bytes of the queue's first entry that were handed on. */
  #at = 0;
  readonly #keepAlive: ReturnType<typeof setInterval> | undefined;
  #controller: ReadableByteStreamController | undefined;
  /** The reader waits for more. */
  #asked: (() => void) | undefined;
  #queued = 0;
  /** Bytes that the reader asked for, and that are on their way until it asks again. */
  #handed = 0;
  #ended = false;
  #impatience: ReturnType<typeof setTimeout> | undefined;

  /** `closed` is told once nothing of it is left; `keepAlive` is sent while nothing else is. */
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

  /** Bytes that the reader does not have yet. */
  get queued(): number {
    return this.#queued + this.#handed;
  }

  get isOver(): boolean {
    return this.#ended;
  }

  /** `bytes` belong to this body from now on: their memory is given back as soon as they were read. */
  push(bytes: Uint8Array): void {
    if (this.#ended) return;
    this.#queue.push(bytes);
    this.#queued += bytes.length;
    this.#hand();
  }

  /** Nothing comes after what was pushed. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#keepAlive) clearInterval(this.#keepAlive);
    this.#closeWhenRead();
  }

  /** Ends at once, whatever is queued. */
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

  /** Gives the reader who asked the next piece. */
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

  /** After the end the object may sleep: it waits for nobody who stopped reading. */
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
