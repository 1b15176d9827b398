/**
 * The other end of a stream, in memory: it gives credit and may reset, as the link does. The link itself, with its frames
 * and its windows, is tested in test/agent/relay.
 */
import { createHash } from "node:crypto";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Incoming } from "@matrx/shared/streams/endpoint.ts";
import type { StreamMessage } from "@matrx/shared/streams/frame.ts";
import type { ByteStream, ServeStream } from "../../../agent/core/byte-stream.ts";

export interface MemoryStreamOptions {
  /** Called with what the tool writes; it waits for the result. */
  readonly receive?: (piece: Uint8Array) => unknown;
  /** What the caller sends. */
  readonly sends?: Iterable<Incoming | Uint8Array> | AsyncIterable<Incoming | Uint8Array>;
}

export class MemoryStream implements ByteStream {
  readonly #stop = new AbortController();
  readonly #options: MemoryStreamOptions;
  readonly #digest = createHash("sha256");
  readonly pieces: Uint8Array[] = [];
  readonly messages: StreamMessage[] = [];
  /** Bytes that the tool wrote. */
  bytes = 0;
  largest = 0;
  /** Writes that were waiting at the same time, at most. */
  waiting = 0;
  #waits = 0;

  constructor(options: MemoryStreamOptions = {}) {
    this.#options = options;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get content(): Buffer {
    return Buffer.concat(this.pieces);
  }

  /** Of all that the tool wrote. */
  sha256(): string {
    return this.#digest.copy().digest("hex");
  }

  reset(error: MatrxError = RESET): void {
    this.#stop.abort(error);
  }

  async *incoming(): AsyncIterable<Incoming> {
    for await (const sent of this.#options.sends ?? []) {
      this.signal.throwIfAborted();
      yield sent instanceof Uint8Array ? { kind: "data", bytes: sent } : sent;
      this.signal.throwIfAborted();
    }
    this.signal.throwIfAborted();
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.signal.throwIfAborted();
    this.#waits++;
    this.waiting = Math.max(this.waiting, this.#waits);
    this.largest = Math.max(this.largest, bytes.length);
    this.bytes += bytes.length;
    this.#digest.update(bytes);
    if (this.#options.receive) await this.#options.receive(bytes);
    else this.pieces.push(bytes);
    this.#waits--;
    this.signal.throwIfAborted();
  }

  async send(message: StreamMessage): Promise<void> {
    this.signal.throwIfAborted();
    this.messages.push(message);
  }
}

export const RESET = agentError("CANCELLED", "The other end reset the stream");

/** Serves a result's stream to its end. */
export async function serve(
  result: { stream?: ServeStream },
  options: MemoryStreamOptions = {},
): Promise<{ stream: MemoryStream; trailer: Readonly<Record<string, unknown>> | undefined }> {
  if (!result.stream) throw new Error("the result has no stream");
  const stream = new MemoryStream(options);
  return { stream, trailer: await result.stream(stream) };
}
