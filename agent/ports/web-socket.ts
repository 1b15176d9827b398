/** Opens a WebSocket to a port of this machine, and passes its messages through a stream, framed. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { encodeHead, type HeaderList } from "@matrx/shared/forwarding/head.ts";
import { Pieces } from "@matrx/shared/forwarding/pieces.ts";
import {
  encodeSocketFrame,
  readSocketFrame,
  SOCKET_MESSAGE_BYTES,
} from "@matrx/shared/forwarding/socket-frames.ts";
import type { StreamMessage } from "@matrx/shared/streams/frame.ts";
import { type RawData, WebSocket } from "ws";
import type { ByteStream } from "../core/byte-stream.ts";
import { headersTo, sendResponse, type WantedFetch } from "./fetch.ts";
import { answerOf } from "./tls.ts";

/** Time for the program to open it, in milliseconds. */
const OPENED_WITHIN = 30_000;

/** If the program answers with a response instead, that is sent. */
export function webSocketExchange(wanted: WantedFetch) {
  return async (
    socket: Socket,
    stream: ByteStream,
    tls: () => Promise<Socket | undefined>,
  ): Promise<StreamMessage> => {
    let ws = openOn(socket, wanted);
    try {
      const refusal = await answerOf(openedOrRefused(ws), tls, {
        isSafe: () => true,
        again: (secure) => {
          ws = openOn(secure, wanted);
          return openedOrRefused(ws);
        },
      });
      if (refusal) return await sendResponse(refusal, stream);
      const sending = sendMessages(ws, stream);
      // A caller that was told how it was closed may be gone.
      await Promise.race([sending, receiveMessages(ws, stream).then(() => sending)]);
      return {};
    } finally {
      ws.terminate();
    }
  };
}

function openOn(socket: Socket, { port, path, headers }: WantedFetch): WebSocket {
  return new WebSocket(`ws://localhost:${port}${path}`, protocolsIn(headers), {
    createConnection: () => socket,
    headers: headersTo(
      socket,
      port,
      headers.filter(([name]) => !OF_HANDSHAKE.test(name)),
    ),
    perMessageDeflate: false,
    maxPayload: SOCKET_MESSAGE_BYTES,
    handshakeTimeout: OPENED_WITHIN,
  });
}

/** These are our own client's. */
const OF_HANDSHAKE = /^(?:sec-websocket-.*|content-length)$/i;

function protocolsIn(headers: HeaderList): string[] {
  return headers
    .filter(([name]) => name.toLowerCase() === "sec-websocket-protocol")
    .flatMap(([, value]) => value.split(",").map((protocol) => protocol.trim()));
}

/** Resolves with the response if the program did not open it. Rejects if the connection fails. */
async function openedOrRefused(ws: WebSocket): Promise<IncomingMessage | undefined> {
  // What comes with the handshake waits for its listener.
  ws.once("open", () => ws.pause());
  const refused = new Promise<IncomingMessage>((resolve) => {
    ws.once("unexpected-response", (_request, response) => resolve(response));
  });
  return await Promise.race([once(ws, "open").then(() => undefined), refused]);
}

/** The head, then each message as the stream takes it, then how it was closed. */
async function sendMessages(ws: WebSocket, stream: ByteStream): Promise<void> {
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.once("close", (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  const failed = Promise.withResolvers<never>();
  // A program that breaks the rules: `close` follows, and says so.
  ws.on("error", () => undefined);
  const head = encodeHead({ status: 101, headers: [], ...(ws.protocol && { protocol: ws.protocol }) });
  if (!head) throw new Error("The subprotocol's name is too long");
  let last = stream.write(head);
  ws.on("message", (data, isBinary) => {
    // No more is read from the program while the stream has no room.
    ws.pause();
    last = last.then(() => stream.write(frameOf(data, isBinary)));
    last.then(() => ws.resume(), failed.reject);
  });
  await last;
  ws.resume();
  const { code, reason } = await Promise.race([closed, failed.promise]);
  await last;
  await stream.write(encodeSocketFrame({ kind: "close", code, reason }));
}

function frameOf(data: RawData, isBinary: boolean): Uint8Array {
  const bytes = data as Buffer;
  return encodeSocketFrame(
    isBinary ? { kind: "binary", bytes } : { kind: "text", text: bytes.toString("utf8") },
  );
}

/** Passes the caller's messages on, as the program takes them, until it closes or is gone. */
async function receiveMessages(ws: WebSocket, stream: ByteStream): Promise<void> {
  const pieces = new Pieces(dataOf(stream));
  for (;;) {
    const frame = await readSocketFrame(pieces);
    if (!frame) return ws.terminate();
    if (frame.kind === "close") return ws.close(frame.code, frame.reason);
    await new Promise<void>((resolve, reject) => {
      const data = frame.kind === "text" ? frame.text : frame.bytes;
      ws.send(data, { binary: frame.kind === "binary" }, (error) => {
        // The program has closed it: the other direction says so.
        if (error && ws.readyState === WebSocket.OPEN) reject(error);
        else resolve();
      });
    });
  }
}

async function* dataOf(stream: ByteStream): AsyncGenerator<Uint8Array, void> {
  for await (const piece of stream.incoming()) if (piece.kind === "data") yield piece.bytes;
}
