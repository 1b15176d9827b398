/** One HTTP request as the caller of a stream: its body goes to the device, or what the device sends becomes its response's. */
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import { makeConnectionId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { StreamEnd } from "@matrx/shared/streams/endpoint.ts";
import { type ConnectionId, decodeStreamFrame, type StreamMessage } from "@matrx/shared/streams/frame.ts";
import type { WantedOpens } from "@matrx/shared/streams/opens.ts";
import type { Lease, LeasedCaller } from "../leases.ts";
import type { CallerConnection } from "./stream.ts";
import type { Streams } from "./streams.ts";
import type { Turn } from "./turns.ts";

/** What is on its way to the reader of a response at most, in bytes. */
const WINDOW = 1024 * 1024;
/** The same where many requests go on at once. */
const EXCHANGE_WINDOW = 256 * 1024;
/** How much of a request's body is read at once, in bytes, but at its end; by itself, the platform reads 4 KiB. */
const PIECE = 128 * 1024;
/** The only stream of a request. */
const STREAM = 1;

export class HttpConnection implements CallerConnection {
  readonly id: ConnectionId = makeConnectionId();
  readonly lease: Lease;
  readonly visit: string | undefined;
  /** The window bounds what waits here. */
  readonly queued = 0;
  readonly #end: StreamEnd;
  readonly #window: number;
  #onFrame: (() => void) | undefined;
  #impatience: ReturnType<typeof setTimeout> | undefined;

  private constructor(streams: Streams, { lease, guest }: LeasedCaller, window: number) {
    this.lease = lease;
    this.visit = guest?.grant;
    this.#window = window;
    this.#end = new StreamEnd({
      ...{ connection: this.id, stream: STREAM, side: "caller", hop: "relay", window, credit: 0 },
      send: (frame) => streams.fromCaller(this, frame),
      frameBytes: LIMITS.streamDataBytes,
    });
  }

  /** For a request whose response is what the device sends. */
  static reading(streams: Streams, caller: LeasedCaller): HttpConnection {
    return new HttpConnection(streams, caller, WINDOW);
  }

  /** For a request whose body goes to the device, which only answers with the end. */
  static sending(streams: Streams, caller: LeasedCaller): HttpConnection {
    return new HttpConnection(streams, caller, LIMITS.streamWindowMinBytes);
  }

  /** For a request whose body goes to the device, and whose response is what the device sends meanwhile. */
  static both(streams: Streams, caller: LeasedCaller): HttpConnection {
    return new HttpConnection(streams, caller, EXCHANGE_WINDOW);
  }

  get opens(): WantedOpens {
    return { stream: STREAM, credit: this.#window, less: true };
  }

  deliver(frame: Uint8Array<ArrayBuffer>): void {
    this.#onFrame?.();
    this.#end.receive(decodeStreamFrame(frame));
  }

  changed(): void {}

  /** What the device sends, as it is read. If the stream is reset, the body breaks off. */
  body(): ReadableStream<Uint8Array> {
    const pieces = this.#end.incoming();
    const pull = async (controller: ReadableByteStreamController) => {
      clearTimeout(this.#impatience ?? null);
      const piece = await nextBytes(pieces);
      if (!piece) return controller.close();
      controller.enqueue(piece);
      // A reader that stops reading must not keep the object awake.
      this.#impatience = setTimeout(() => this.#end.reset(READS_TOO_SLOWLY), TIMES.streamDrain);
    };
    const cancel = () => {
      clearTimeout(this.#impatience ?? null);
      this.#end.reset(READER_LEFT);
    };
    return new ReadableStream({ type: "bytes", pull, cancel });
  }

  /** Sends a request's body while what the device sends is read. The turn ends when the stream is over. */
  exchange(body: ReadableStream<Uint8Array> | undefined, turn: Turn): ReadableStream<Uint8Array> {
    const over = new AbortController();
    const pieces = this.#end.incoming();
    const end = () => {
      if (over.signal.aborted) return;
      clearTimeout(this.#impatience ?? null);
      over.abort();
      turn.end();
    };
    this.#end.signal.addEventListener("abort", end, { once: true });
    if (this.#end.signal.aborted) end();
    else {
      this.#onFrame = turn.active;
      turn.begin(() => this.#end.reset(MAKES_ROOM));
    }
    void this.#sendAlong(body, over.signal);
    const pull = async (controller: ReadableByteStreamController) => {
      clearTimeout(this.#impatience ?? null);
      const piece = await nextBytes(pieces);
      if (!piece) {
        end();
        return controller.close();
      }
      controller.enqueue(piece);
      this.#impatience = setTimeout(() => this.#end.reset(READS_TOO_SLOWLY), TIMES.streamDrain);
    };
    const cancel = () => {
      this.#end.reset(READER_LEFT);
      end();
    };
    return new ReadableStream({ type: "bytes", pull, cancel });
  }

  /** A body that breaks off resets the stream. What is left of it when the device has answered is not read. */
  async #sendAlong(body: ReadableStream<Uint8Array> | undefined, over: AbortSignal): Promise<void> {
    const reader = body?.getReader({ mode: "byob" });
    const stop = () => void reader?.cancel().catch(() => undefined);
    over.addEventListener("abort", stop, { once: true });
    let buffer: ArrayBufferLike = new ArrayBuffer(PIECE);
    try {
      while (reader && !over.aborted) {
        const { value, done }: ReadableStreamReadResult<Uint8Array> = await reader.read(
          new Uint8Array(buffer),
        );
        if (done) break;
        await this.#end.write(value);
        buffer = value.buffer;
      }
      if (!over.aborted) await this.#end.end();
    } catch {
      // Once it is over, neither the body nor the stream takes or gives anything.
      if (!over.aborted && !this.#end.trailer) this.#end.reset(BROKE_OFF);
    } finally {
      over.removeEventListener("abort", stop);
      stop();
    }
  }

  /**
   * Sends a request's body as the device takes it; resolves with what the device says at the end. A body that breaks off
   * resets the stream. Throws MatrxError.
   */
  async send(body: ReadableStream<Uint8Array> | undefined): Promise<StreamMessage> {
    const reader = body?.getReader({ mode: "byob" });
    // One buffer for all of it: new ones would pile up until the next major collection.
    let buffer: ArrayBufferLike = new ArrayBuffer(PIECE);
    try {
      for (;;) {
        const piece: Uint8Array | undefined = reader && (await this.#nextPiece(reader, buffer));
        if (!piece) break;
        await this.#end.write(piece);
        buffer = piece.buffer;
      }
      await this.#end.end();
      for await (const _nothing of this.#end.incoming());
    } catch (error) {
      const shape = error instanceof MatrxError ? error.shape() : BROKE_OFF;
      this.#end.reset(shape);
      throw new MatrxError(shape);
    } finally {
      void reader?.cancel().catch(() => undefined);
    }
    return this.#end.trailer ?? {};
  }

  /** Undefined at the end. Throws MatrxError if the stream is over, or hardly anything comes for a minute; else what the body broke off with. */
  async #nextPiece(
    reader: ReadableStreamBYOBReader,
    buffer: ArrayBufferLike,
  ): Promise<Uint8Array | undefined> {
    const { signal } = this.#end;
    const stop = Promise.withResolvers<never>();
    const onOver = () => stop.reject(signal.reason);
    const timer = setTimeout(() => stop.reject(new MatrxError(SENDS_TOO_SLOWLY)), TIMES.streamDrain);
    signal.addEventListener("abort", onOver, { once: true });
    try {
      signal.throwIfAborted();
      const { value, done } = await Promise.race([
        reader.readAtLeast(PIECE, new Uint8Array(buffer)),
        stop.promise,
      ]);
      return done ? undefined : value;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onOver);
    }
  }
}

/** Undefined at the end. Throws MatrxError if the stream was reset. */
async function nextBytes(
  pieces: ReturnType<StreamEnd["incoming"]>,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  for (;;) {
    const { value, done } = await pieces.next();
    if (done) return undefined;
    if (value.kind === "data") return value.bytes as Uint8Array<ArrayBuffer>;
  }
}

const READER_LEFT: ErrorShape = { code: "CANCELLED", message: "The reader left", hop: "relay" };

const BROKE_OFF: ErrorShape = {
  code: "INVALID_MESSAGE",
  message: "The body ended too early",
  hint: "Send the request again",
  hop: "relay",
};

const SENDS_TOO_SLOWLY: ErrorShape = {
  code: "TIMEOUT",
  message: "Less than 128 KiB of the body has arrived in a minute",
  hint: "Send the request again, or as a resumable upload",
  hop: "relay",
};

const MAKES_ROOM: ErrorShape = {
  code: "RATE_LIMITED",
  message: "Other requests of the visit wait, and nothing was sent here for half a minute",
  hint: "Send the request again",
  hop: "relay",
};

const READS_TOO_SLOWLY: ErrorShape = {
  code: "TIMEOUT",
  message: "The reader has not read for a minute",
  hint: "Continue where it broke off, with a Range header",
  hop: "relay",
};
