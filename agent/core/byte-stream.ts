/** A stream of bytes between a tool and its caller, opened by a call. Credit bounds what is buffered, both ways. */
import type { Incoming } from "@matrx/shared/streams/endpoint.ts";
import type { StreamMessage } from "@matrx/shared/streams/frame.ts";

export interface ByteStream {
  /** Aborted when the stream is reset, or its link is lost; the reason is a MatrxError. */
  readonly signal: AbortSignal;
  /**
   * What the caller sends, until it ends its direction. Taking the next piece gives the caller credit for the last one.
   * Throws MatrxError if the stream is reset.
   */
  incoming(): AsyncIterable<Incoming>;
  /** Sends bytes; resolves when the caller has had room for all of them. Rejects with MatrxError if the stream is reset. */
  write(bytes: Uint8Array): Promise<void>;
  /** Sends a JSON object of at most 4 KiB, in order with the bytes. */
  send(message: StreamMessage): Promise<void>;
}

/**
 * Serves a stream after its call was answered. What it returns goes to the caller with the end of the stream; if it throws,
 * the stream is reset with that error.
 */
export type ServeStream = (stream: ByteStream) => Promise<StreamMessage | undefined>;
