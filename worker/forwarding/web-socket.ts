/** A WebSocket of a visited page: its messages, framed, are the two bodies of an exchange. */

import { waitUntil } from "cloudflare:workers";
import { CLOSE, closeReason } from "@matrx/shared/close-codes.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import {
  encodeSocketFrame,
  readSocketFrame,
  SOCKET_FRAME_BYTES,
  SOCKET_MESSAGE_BYTES,
  type SocketFrame,
} from "@matrx/shared/forwarding/socket-frames.ts";
import { queuedBytes } from "../socket.ts";
import type { ExactReader } from "./exact-reader.ts";
import { ask, type Destination, responseOf } from "./exchange.ts";
import { toldError } from "./pages.ts";

/** What waits for the program, or for the browser, before the one that sends too fast is disconnected, in bytes. */
const QUEUED_MAX = 2 * SOCKET_MESSAGE_BYTES;

/** Opens it at the program first; one that refuses answers as to any request. Throws MatrxError. */
export async function forwardSocket(to: Destination, request: Request): Promise<Response> {
  const { readable, writable } = new IdentityTransformStream();
  const messages = new Outgoing(writable);
  try {
    const answered = await ask(to, request, readable, true);
    if (answered instanceof Response) {
      messages.end();
      return answered;
    }
    const { head, reader } = answered;
    if (head.status !== 101) {
      messages.end();
      return responseOf(to, request, answered);
    }
    const { 0: client, 1: server } = new WebSocketPair();
    server.binaryType = "arraybuffer";
    server.accept();
    listen(server, messages, reader);
    // The runtime would drop how the browser closed it with the request that ends then.
    waitUntil(deliver(server, reader, messages));
    const headers = head.protocol === undefined ? {} : { "Sec-WebSocket-Protocol": head.protocol };
    return new Response(null, { status: 101, webSocket: client, headers });
  } catch (error) {
    messages.end();
    if (error instanceof MatrxError) return toldError(error);
    throw error;
  }
}

/** Frames for the program, in order. */
class Outgoing {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  #queued = 0;

  constructor(writable: WritableStream<Uint8Array>) {
    this.#writer = writable.getWriter();
    // Whoever writes is told as well.
    this.#writer.closed.catch(() => undefined);
  }

  /** Returns false if too much waits. */
  send(bytes: Uint8Array<ArrayBuffer>): boolean {
    this.#queued += bytes.length;
    const taken = () => {
      this.#queued -= bytes.length;
    };
    this.#writer.write(bytes).then(taken, taken);
    return this.#queued <= QUEUED_MAX;
  }

  end(): void {
    this.#writer.close().catch(() => undefined);
  }
}

/** From the browser to the program. */
function listen(server: WebSocket, messages: Outgoing, reader: ExactReader): void {
  let isOver = false;
  const over = (frame: SocketFrame) => {
    if (isOver) return;
    isOver = true;
    messages.send(encodeSocketFrame(frame));
    messages.end();
  };
  server.addEventListener("message", ({ data }) => {
    if (isOver) return;
    const frame = frameOf(data as string | ArrayBuffer);
    const bytes = encodeSocketFrame(frame);
    const isShort = bytes.length <= SOCKET_FRAME_BYTES;
    if (isShort && messages.send(bytes)) return;
    server.close(
      isShort ? CLOSE.tooSlow : 1009,
      isShort ? "The program reads too slowly" : "Too long a message",
    );
    over({ kind: "close", code: 1011, reason: "" });
    reader.cancel();
  });
  server.addEventListener("close", ({ code, reason }) => over({ kind: "close", code, reason }));
  server.addEventListener("error", () => {
    over({ kind: "close", code: 1011, reason: "" });
    reader.cancel();
  });
}

function frameOf(data: string | ArrayBuffer): Exclude<SocketFrame, { kind: "close" }> {
  return typeof data === "string"
    ? { kind: "text", text: data }
    : { kind: "binary", bytes: new Uint8Array(data) };
}

/** From the program to the browser, until one of them closes it, or the visit ends. */
async function deliver(server: WebSocket, reader: ExactReader, messages: Outgoing): Promise<void> {
  try {
    for (;;) {
      const frame = await readSocketFrame(reader);
      if (!frame) return close(server, 1011, "The program is gone");
      if (frame.kind === "close") return close(server, frame.code, frame.reason);
      if (server.readyState !== WebSocket.OPEN) return;
      server.send(frame.kind === "text" ? frame.text : frame.bytes);
      if (queuedBytes(server) > QUEUED_MAX) return close(server, CLOSE.tooSlow, "Read faster");
    }
  } catch {
    // The stream was reset: the visit was ended, or the device is gone.
    close(server, 1011, "The connection to the device has ended");
  } finally {
    messages.end();
    reader.cancel();
  }
}

function close(server: WebSocket, code: number, reason: string): void {
  if (server.readyState === WebSocket.OPEN) server.close(code, closeReason(reason));
}
