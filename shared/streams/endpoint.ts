/**
 * One end of a stream: sends as far as the other end gave credit, and gives credit as what came is taken. Independent of
 * transport; used by the agent, by callers, and by the relay where it answers HTTP.
 */
import { type ErrorShape, type Hop, MatrxError } from "../errors.ts";
import { Mutex } from "../mutex.ts";
import {
  costOf,
  creditOf,
  creditPayload,
  encodeStreamFrame,
  errorPayload,
  messageOf,
  messagePayload,
  payloadFor,
  resetErrorOf,
  type StreamAddress,
  type StreamFrame,
  type StreamKind,
  type StreamMessage,
} from "./frame.ts";

/** What comes from the other end, in the order in which it was sent. */
export type Incoming =
  | { readonly kind: "data"; readonly bytes: Uint8Array }
  | { readonly kind: "message"; readonly message: StreamMessage };

export interface StreamEndOptions extends StreamAddress {
  /** Whose end this is. The device's `end` ends the stream; the caller's only says that nothing more will come from there. */
  readonly side: "caller" | "device";
  /** Whom errors found here are attributed to. */
  readonly hop: Hop;
  /** Sends a frame. */
  readonly send: (frame: Uint8Array<ArrayBuffer>) => void;
  /** Resolves when the connection takes more data; undefined: at once. */
  readonly ready?: (() => Promise<void> | undefined) | undefined;
  /** Most data in one frame, in bytes. */
  readonly frameBytes: number;
  /** Credit that the other end has at a time, in bytes. A caller's has been given with the call; the relay may make it less. */
  readonly window: number;
  /** Credit to begin with, in bytes. */
  readonly credit: number;
  /** Whether frames say that they go over the bulk connection; a caller learns it from the device's frames. */
  readonly bulk?: boolean;
  /** The stream is over; called once. */
  readonly onClosed?: () => void;
}

/** With less credit than for this much data, a larger piece waits: many small frames cost more. */
const SMALLEST_PIECE = 16 * 1024;

export class StreamEnd {
  readonly #options: StreamEndOptions;
  readonly #over = new AbortController();
  #bulk: boolean;
  #credit: number;
  /** Resolves when there is more credit, or none will come. */
  #more = Promise.withResolvers<void>();
  /** The pieces of one write stay together. */
  readonly #writers = new Mutex();
  #endSent = false;
  readonly #inbox: { readonly piece: Incoming; readonly cost: number }[] = [];
  #arrived = Promise.withResolvers<void>();
  /** Credit that the other end has left. */
  #given: number;
  /** Whether the other end has had credit at all. */
  #hasGiven: boolean;
  #window: number;
  /** Cost of what was taken since credit was last given. */
  #taken = 0;
  #trailer: StreamMessage | undefined;
  #waitsSince: number | undefined;
  #closed = false;

  constructor(options: StreamEndOptions) {
    this.#options = options;
    this.#bulk = options.bulk ?? false;
    this.#credit = options.credit;
    this.#hasGiven = options.side === "caller";
    this.#window = options.window;
    this.#given = this.#hasGiven ? options.window : 0;
  }

  /** Aborted when the stream is reset by either end; the reason is a MatrxError. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Since when a writer has waited for credit, by `performance.now()`; undefined while none does. */
  get waitsSince(): number | undefined {
    return this.#waitsSince;
  }

  /** What the other end said with its `end`; undefined until then. */
  get trailer(): StreamMessage | undefined {
    return this.#trailer;
  }

  /** Handles a frame of this stream. Never throws: a frame that breaks the rules resets the stream. */
  receive(frame: StreamFrame): void {
    if (this.#closed) return;
    if (this.#options.side === "caller") this.#bulk = frame.bulk;
    try {
      this.#take(frame);
    } catch (error) {
      this.reset(error instanceof MatrxError ? error.shape() : this.#fault("The stream could not be read"));
    }
  }

  /** What the other end sends, until its `end`. For one reader. Throws MatrxError if the stream is reset, after what came before. */
  async *incoming(): AsyncGenerator<Incoming, void> {
    if (!this.#hasGiven) this.#give(this.#window);
    for (;;) {
      const next = this.#inbox.shift();
      if (next) {
        yield next.piece;
        this.#taken += next.cost;
        if (this.#taken >= this.#window / 4 && !this.#closed) this.#give(this.#taken);
      } else if (this.signal.aborted) throw this.signal.reason;
      else if (this.#trailer) return;
      else await this.#arrived.promise;
    }
  }

  /** Sends bytes as there is credit; resolves when all are sent. Rejects with MatrxError if the stream is over. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#inTurn(async () => {
      for (let at = 0; at < bytes.length; ) {
        const most = Math.min(bytes.length - at, this.#options.frameBytes);
        await this.#waitFor(costOf("data", Math.min(most, SMALLEST_PIECE)));
        const length = Math.min(most, payloadFor(this.#credit));
        this.#send("data", bytes.subarray(at, at + length));
        at += length;
      }
    });
  }

  /** Sends a JSON object of at most 4 KiB, in order with the bytes. Rejects with MatrxError. */
  send(message: StreamMessage): Promise<void> {
    return this.#inTurn(async () => {
      const payload = messagePayload(message);
      await this.#waitFor(costOf("message", payload.length));
      this.#send("message", payload);
    });
  }

  /** Ends this direction after everything written so far. */
  end(trailer?: StreamMessage): Promise<void> {
    return this.#inTurn(async () => {
      this.#send("end", trailer ? messagePayload(trailer) : new Uint8Array());
      this.#endSent = true;
      if (this.#options.side === "device" || this.#trailer) this.#close();
    });
  }

  /** Ends the stream with an error, and tells the other end. */
  reset(error: ErrorShape): void {
    if (this.#closed) return;
    this.#send("reset", errorPayload(error));
    this.lose(error);
  }

  /** The stream is lost, and the other end knows or can't be told. */
  lose(error: ErrorShape): void {
    if (this.#closed) return;
    this.#over.abort(new MatrxError(error));
    this.#close();
  }

  #take(frame: StreamFrame): void {
    switch (frame.kind) {
      case "data":
        return this.#put({ kind: "data", bytes: frame.payload }, frame);
      case "message":
        return this.#put({ kind: "message", message: messageOf(frame) }, frame);
      case "credit":
        this.#credit += creditOf(frame);
        return this.#wake();
      case "window":
        return this.#lessen(creditOf(frame));
      case "end":
        return this.#ended(messageOf(frame));
      case "reset":
        return this.lose(resetErrorOf(frame));
      default:
        frame.kind satisfies never;
    }
  }

  #put(piece: Incoming, { kind, payload }: StreamFrame): void {
    if (this.#trailer) throw new MatrxError(this.#fault("Data came after the end of the stream"));
    const cost = costOf(kind, payload.length);
    if (cost > this.#given) throw new MatrxError(this.#fault("More data came than there was credit for"));
    this.#given -= cost;
    this.#inbox.push({ piece, cost });
    this.#wakeReader();
  }

  /** The relay had room for less than the call gave. It says so before anything comes. */
  #lessen(window: number): void {
    if (this.#options.side !== "caller" || this.#given < this.#window || window > this.#window)
      throw new MatrxError(this.#fault("The window can't be changed now"));
    this.#window = window;
    this.#given = window;
  }

  #ended(trailer: StreamMessage): void {
    this.#trailer ??= trailer;
    this.#wakeReader();
    if (this.#options.side === "caller" || this.#endSent) this.#close();
  }

  #give(bytes: number): void {
    this.#hasGiven = true;
    this.#taken = 0;
    this.#given += bytes;
    this.#send("credit", creditPayload(bytes));
  }

  #inTurn(act: () => Promise<void>): Promise<void> {
    return this.#writers.runExclusive(async () => {
      this.#requireOpen();
      await act();
    });
  }

  /** Resolves when there is this much credit, and the connection takes more. */
  async #waitFor(cost: number): Promise<void> {
    for (;;) {
      if (this.#credit < cost) this.#waitsSince = performance.now();
      while (this.#credit < cost) await this.#moreCredit();
      this.#waitsSince = undefined;
      const ready = this.#options.ready?.();
      if (!ready) return this.#requireOpen();
      await ready;
      this.#requireOpen();
    }
  }

  async #moreCredit(): Promise<void> {
    this.#requireOpen();
    await this.#more.promise;
    this.#requireOpen();
  }

  #requireOpen(): void {
    this.signal.throwIfAborted();
    if (this.#closed || this.#endSent) throw new MatrxError(this.#fault("The stream has ended"));
  }

  #send(kind: StreamKind, payload: Uint8Array): void {
    this.#credit -= costOf(kind, payload.length);
    const { connection, stream, send } = this.#options;
    send(encodeStreamFrame({ connection, stream, bulk: this.#bulk }, kind, payload));
  }

  #close(): void {
    this.#closed = true;
    this.#wake();
    this.#wakeReader();
    this.#options.onClosed?.();
  }

  #wake(): void {
    const { resolve } = this.#more;
    this.#more = Promise.withResolvers();
    resolve();
  }

  #wakeReader(): void {
    const { resolve } = this.#arrived;
    this.#arrived = Promise.withResolvers();
    resolve();
  }

  #fault(message: string): ErrorShape {
    return {
      code: "INVALID_MESSAGE",
      message,
      hint: "Streams are described in docs/protocol.md",
      hop: this.#options.hop,
    };
  }
}
