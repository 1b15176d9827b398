/** One HTTP request as the caller of a stream: what the device sends becomes the body of its response. */
import type { ErrorShape } from "@matrx/shared/errors.ts";
import { makeConnectionId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { StreamEnd } from "@matrx/shared/streams/endpoint.ts";
import { type ConnectionId, decodeStreamFrame, type Opens } from "@matrx/shared/streams/frame.ts";
import type { GuestSession } from "../../auth/caller.ts";
import type { Lease } from "../leases.ts";
import type { CallerConnection } from "./stream.ts";
import type { Streams } from "./streams.ts";

/** What is on its way to the reader at most, in bytes. */
const WINDOW = 1024 * 1024;
/** The only stream of a request. */
const STREAM = 1;

export class HttpConnection implements CallerConnection {
  readonly id: ConnectionId = makeConnectionId();
  readonly lease: Lease;
  readonly visit: string | undefined;
  /** The window bounds what waits here. */
  readonly queued = 0;
  readonly #end: StreamEnd;
  #impatience: ReturnType<typeof setTimeout> | undefined;

  constructor(streams: Streams, lease: Lease, guest: GuestSession | undefined) {
    this.lease = lease;
    this.visit = guest?.grant;
    this.#end = new StreamEnd({
      ...{ connection: this.id, stream: STREAM, side: "caller", hop: "relay", window: WINDOW, credit: 0 },
      send: (frame) => streams.fromCaller(this, frame),
      frameBytes: LIMITS.streamDataBytes,
    });
  }

  get opens(): Opens & { connection: ConnectionId } {
    return { connection: this.id, stream: STREAM, credit: WINDOW };
  }

  deliver(frame: Uint8Array<ArrayBuffer>): void {
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

const READS_TOO_SLOWLY: ErrorShape = {
  code: "TIMEOUT",
  message: "The reader has not read for a minute",
  hint: "Continue where it broke off, with a Range header",
  hop: "relay",
};
