/**
 * Joins a stream and a connection of this machine: bytes both ways, each end of a direction (FIN) passed on by itself. The
 * caller ends its direction with `end`. Since the device's `end` ends the whole stream, it says FIN with a message.
 */
import { once } from "node:events";
import { Socket } from "node:net";
import type { Duplex, Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Incoming } from "@matrx/shared/streams/endpoint.ts";

/** The device's FIN. */
export const FIN = { fin: true } as const;

/** A stream's end, on either side. */
interface Bytes {
  readonly signal: AbortSignal;
  incoming(): AsyncIterable<Incoming>;
  write(bytes: Uint8Array): Promise<void>;
}

/** Bytes that went from the connection into the stream, and back. */
export interface Joined {
  readonly sent: number;
  readonly received: number;
}

/**
 * Passes bytes until both directions have ended; `finish` says into the stream that the connection sends no more. Rejects
 * with the stream's MatrxError if it is reset, otherwise with the connection's error. Then the other part is still open.
 */
export async function joined(
  connection: Duplex,
  stream: Bytes,
  finish: () => Promise<void>,
): Promise<Joined> {
  const stop = () => breakOff(connection);
  stream.signal.addEventListener("abort", stop, { once: true });
  try {
    if (stream.signal.aborted) throw stream.signal.reason;
    const [sent, received] = await Promise.all([
      sendAll(connection, stream).then(async (bytes) => {
        await finish();
        return bytes;
      }),
      receiveAll(connection, stream),
      // All is written; or the other side is gone, even if neither direction would notice.
      finished(connection),
    ]);
    return { sent, received };
  } catch (error) {
    throw stream.signal.aborted ? stream.signal.reason : error;
  } finally {
    stream.signal.removeEventListener("abort", stop);
  }
}

/** Whoever is at the other end of a TCP connection then knows that it did not end as it should. */
export function breakOff(connection: Duplex): void {
  if (connection instanceof Socket) connection.resetAndDestroy();
  else connection.destroy();
}

/** Reads a connection to its end into a stream, no faster than the stream takes it. Resolves with the number of bytes. */
async function sendAll(from: Readable, stream: Bytes): Promise<number> {
  let bytes = 0;
  // The other direction is still in use.
  for await (const piece of from.iterator({ destroyOnReturn: false })) {
    await stream.write(piece as Buffer);
    bytes += (piece as Buffer).length;
  }
  return bytes;
}

/** Writes what a stream brings to a connection, no faster than that takes it, and then ends it. */
async function receiveAll(to: Writable, stream: Bytes): Promise<number> {
  let bytes = 0;
  for await (const piece of stream.incoming()) {
    if (piece.kind === "data") {
      bytes += piece.bytes.length;
      await written(to, piece.bytes);
    } else if (piece.message.fin === true) to.end();
  }
  to.end();
  return bytes;
}

/** Writes; resolves when there is room for more. Rejects if the connection is closed. */
export async function written(to: Writable, bytes: Uint8Array): Promise<void> {
  if (to.destroyed || to.writableEnded) throw new Error("The connection was closed");
  if (to.write(bytes)) return;
  const closed = new AbortController();
  const close = () => closed.abort(new Error("The connection was closed"));
  to.once("close", close);
  try {
    await once(to, "drain", { signal: closed.signal });
  } finally {
    to.off("close", close);
  }
}
