/** Serves an HTTP request to a port of this machine as a stream: its body comes from the caller; the response goes back. */
import { once } from "node:events";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { toolError } from "@matrx/shared/errors.ts";
import { encodeHead, endToEnd, HEAD_BYTES, type HeaderList } from "@matrx/shared/forwarding/head.ts";
import type { StreamMessage } from "@matrx/shared/streams/frame.ts";
import { strictTextOf } from "@matrx/shared/utf8.ts";
import type { ByteStream, ServeStream } from "../core/byte-stream.ts";
import { written } from "./join.ts";
import { answerOf, type Dialled } from "./tls.ts";

export interface WantedFetch {
  readonly port: number;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: HeaderList;
}

/** A connection whose stream never comes is closed after this time, in milliseconds: its caller is gone. */
const SERVED_WITHIN = 30_000;

/** What a request, or a WebSocket, does with a connection and a stream; `tls` opens another one, by TLS. */
type Exchange = (
  socket: Socket,
  stream: ByteStream,
  tls: () => Promise<Socket | undefined>,
) => Promise<StreamMessage>;

/**
 * The stream is reset with `UNAVAILABLE` if the port breaks the connection off. The connection is never used again: what
 * one visitor's response leaves unread must not begin another's.
 */
export function serveExchange({ socket, secured }: Dialled, port: number, exchange: Exchange): ServeStream {
  const unserved = setTimeout(() => socket.destroy(), SERVED_WITHIN).unref();
  return async (stream) => {
    clearTimeout(unserved);
    const sockets = [socket];
    const stop = () => {
      for (const each of sockets) each.destroy();
    };
    const tls = async () => {
      const secure = await secured(stream.signal);
      if (secure) sockets.push(secure);
      return secure;
    };
    stream.signal.addEventListener("abort", stop, { once: true });
    try {
      stream.signal.throwIfAborted();
      return await exchange(socket, stream, tls);
    } catch (cause) {
      if (stream.signal.aborted) throw stream.signal.reason;
      throw brokenOff(port, cause);
    } finally {
      stream.signal.removeEventListener("abort", stop);
      stop();
    }
  };
}

/** Methods that change nothing (RFC 9110, 9.2.1). */
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** One request and its response; follows no redirect, decompresses nothing. */
export function fetchExchange(wanted: WantedFetch): Exchange {
  return async (socket, stream, tls) => {
    const request = requestOn(socket, wanted);
    const responded = responseTo(request);
    // A program may answer before it has read the body: it may still want the rest, or close its side.
    let isAnswered = false;
    let hasBody = false;
    void sendBody(request, stream, () => {
      hasBody = true;
    }).catch((error: Error) => {
      if (!isAnswered) request.destroy(error);
    });
    const response = await answerOf(responded, tls, {
      isSafe: () => SAFE.has(wanted.method) && !hasBody,
      again: (secure) => {
        const again = requestOn(secure, wanted);
        again.end();
        return responseTo(again);
      },
    });
    isAnswered = true;
    return await sendResponse(response, stream);
  };
}

function requestOn(socket: Socket, { port, method, path, headers }: WantedFetch): ClientRequest {
  const request = httpRequest({
    createConnection: () => socket,
    ...{ method, path, headers: headersTo(socket, port, headers), maxHeaderSize: HEAD_BYTES },
  });
  // More than its Content-Length would be another request. The types have this for responses only.
  Object.assign(request, { strictContentLength: true });
  // Once it is answered, the response says how it breaks off.
  request.on("error", () => undefined);
  return request;
}

/** Rejects if none comes, also if the program switches to a protocol that nobody asked for. */
async function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  const closed = once(request, "close").then(() => {
    throw new Error("The connection was closed without a response");
  });
  const [response] = (await Promise.race([once(request, "response"), closed])) as [IncomingMessage];
  return response;
}

/** Also for the answer of a program that opens no WebSocket. */
export async function sendResponse(response: IncomingMessage, stream: ByteStream): Promise<StreamMessage> {
  const { statusCode: status = 502, rawHeaders } = response;
  if (status < 200) throw new Error(`The status ${status} is no response`);
  const head = encodeHead({ status, headers: endToEnd(pairsOf(rawHeaders)) });
  if (!head) throw new Error(`The headers have more than ${HEAD_BYTES} bytes`);
  await stream.write(head);
  let sent = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    await stream.write(piece);
    sent += piece.length;
  }
  return { sent };
}

/** Where neither length nor method says that there is a body, the first piece does: unframed, it would be another request. */
async function sendBody(request: ClientRequest, stream: ByteStream, begins: () => void): Promise<void> {
  if (request.hasHeader("content-length") || request.useChunkedEncodingByDefault) request.flushHeaders();
  for await (const piece of stream.incoming()) {
    if (piece.kind !== "data") continue;
    begins();
    if (!request.headersSent) request.setHeader("Transfer-Encoding", "chunked");
    await written(request, piece.bytes);
  }
  if (!request.destroyed) request.end();
}

/**
 * The headers of a request to a port: dev servers refuse other hosts than this one. Whoever asks takes the port for one of
 * plain HTTP.
 */
export function headersTo(socket: Socket, port: number, headers: HeaderList): Record<string, string[]> {
  const plain = `http://localhost:${port}`;
  const record = new Map([["host", [`localhost:${port}`]]]);
  for (const [given, value] of endToEnd(headers)) {
    const name = given.toLowerCase();
    if (name === "host") continue;
    const isOwn = OF_ORIGIN.has(name) && socket instanceof TLSSocket && value.startsWith(plain);
    const own = isOwn ? value.replace("http:", "https:") : value;
    record.set(name, [...(record.get(name) ?? []), bytesOf(own)]);
  }
  return Object.fromEntries(record);
}

const OF_ORIGIN: ReadonlySet<string> = new Set(["origin", "referer"]);

function pairsOf(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, at) =>
    at % 2 === 0 ? [[name, textOf(raw[at + 1] ?? "")] as [string, string]] : [],
  );
}

/** A value for Node, which writes each character as one byte: browsers send UTF-8, in cookies for instance. */
function bytesOf(value: string): string {
  return Buffer.from(value, "utf8").toString("latin1");
}

/** A value that Node has read: UTF-8 where it is, otherwise ISO 8859-1. */
function textOf(value: string): string {
  try {
    return strictTextOf(Buffer.from(value, "latin1"));
  } catch {
    return value;
  }
}

function brokenOff(port: number, cause: unknown) {
  return toolError("UNAVAILABLE", `Port ${port} of this device broke the exchange off`, {
    hint: "Look at the program that serves it; it must speak HTTP, plain or by TLS",
    cause,
  });
}
