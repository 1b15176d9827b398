/** Server-sent events towards one reader: queued here under a bound, because the platform would queue without one. */
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";

const encoder = new TextEncoder();
const KEEP_ALIVE = ": keep-alive\n\n";
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  /** The reader went away, or was sent away, before the call's end. */
  onLeft: () => void = () => undefined;
  readonly #closed: (stream: EventStream) => void;
  readonly #queue: Uint8Array[] = [];
  readonly #keepAlive: ReturnType<typeof setInterval>;
  #controller: ReadableByteStreamController | undefined;
  /** The reader waits for more. */
  #asked: (() => void) | undefined;
  #queued = 0;
  /** Bytes that the reader asked for, and that are on their way until it asks again. */
  #handed = 0;
  #ended = false;
  #impatience: ReturnType<typeof setTimeout> | null = null;

  /** `closed` is told once nothing of it is left. */
  constructor(closed: (stream: EventStream) => void) {
    this.#closed = closed;
    this.#keepAlive = setInterval(() => this.#stayAlive(), TIMES.streamKeepAlive);
    this.body = new ReadableStream({
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

  /** The reader is so far behind that what may be left out is. */
  get behind(): boolean {
    return this.#queued > LIMITS.streamQueueBytes;
  }

  /** One event; `data` is JSON, and is copied. */
  send(event: string, data: Uint8Array, id?: string): void {
    if (!this.#ended) this.#push(eventOf(`event: ${event}\n${id ? `id: ${id}\n` : ""}`, data));
  }

  /** The last event. */
  end(event: string, data: Uint8Array): void {
    if (this.#ended) return;
    this.send(event, data, "end");
    this.#ended = true;
    clearInterval(this.#keepAlive);
    this.#closeWhenRead();
  }

  /** The last event of a reader who may not go on. */
  endEarly(event: string, data: Uint8Array): void {
    if (this.#ended) return;
    this.end(event, data);
    this.onLeft();
  }

  /** Ends without a last event. */
  cut(): void {
    this.#leave();
    this.#close();
  }

  #push(bytes: Uint8Array): void {
    this.#queue.push(bytes);
    this.#queued += bytes.length;
    this.#hand();
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
    const next = asked && this.#queue.shift();
    if (!asked || !next) return;
    this.#asked = undefined;
    this.#queued -= next.length;
    this.#handed = next.length;
    this.#controller?.enqueue(next);
    asked();
  }

  /** After the end the object may sleep: it waits for nobody who stopped reading. */
  #closeWhenRead(): void {
    clearTimeout(this.#impatience);
    if (this.queued > 0) {
      this.#impatience = setTimeout(() => this.cut(), TIMES.streamDrain);
      return;
    }
    this.#closed(this);
    this.#close();
  }

  #close(): void {
    this.#controller?.close();
    this.#controller?.byobRequest?.respond(0);
    this.#asked?.();
  }

  #stayAlive(): void {
    if (this.#queue.length === 0) this.#push(encoder.encode(KEEP_ALIVE));
  }

  #leave(): void {
    clearInterval(this.#keepAlive);
    clearTimeout(this.#impatience);
    this.#queue.length = 0;
    this.#queued = 0;
    this.#handed = 0;
    this.#closed(this);
    if (this.#ended) return;
    this.#ended = true;
    this.onLeft();
  }
}

/** An event's bytes. JSON has line breaks between its tokens only: where a device wrote some, they become spaces. */
function eventOf(head: string, data: Uint8Array): Uint8Array {
  const before = encoder.encode(`${head}data: `);
  const bytes = new Uint8Array(before.length + data.length + 2);
  bytes.set(before);
  bytes.set(data, before.length);
  for (const char of [LINE_FEED, CARRIAGE_RETURN]) {
    for (let at = bytes.indexOf(char, before.length); at !== -1; at = bytes.indexOf(char, at + 1))
      bytes[at] = 32;
  }
  bytes.fill(LINE_FEED, before.length + data.length);
  return bytes;
}
