/** A stream of bytes between a tool and its caller, opened by a call. Under credit both ways: nothing is buffered beyond it. */

/** What comes from the other end, in the order in which it was sent. */
export type Incoming =
  | { readonly kind: "data"; readonly bytes: Uint8Array }
  /** A small JSON object between the bytes, such as a terminal's new size. */
  | { readonly kind: "message"; readonly message: Readonly<Record<string, unknown>> };

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
  send(message: Readonly<Record<string, unknown>>): Promise<void>;
}

/**
 * Serves a stream after its call was answered. What it returns goes to the caller with the end of the stream; if it throws,
 * the stream is reset with that error.
 */
export type ServeStream = (stream: ByteStream) => Promise<Readonly<Record<string, unknown>> | undefined>;
