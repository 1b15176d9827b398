/** What the Worker tells a Device object about an upgrade, and helpers for the resulting sockets. */
import { free } from "@matrx/shared/free-buffer.ts";
import type { AccountId } from "@matrx/shared/ids.ts";
import type { TicketCaller } from "./auth/caller.ts";

/** Buffers messages in order until their sender is known. Bounded, because the sender may be anyone. */
const BYTES_MAX = 8 * 1024 * 1024;

export class MessageBuffer {
  readonly messages: (string | ArrayBuffer)[] = [];
  readonly #max: number;
  #bytes = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns false if too many messages, or too many bytes, are waiting; then this one is not kept. */
  push(data: string | ArrayBuffer): boolean {
    this.#bytes += typeof data === "string" ? data.length : data.byteLength;
    if (this.messages.length >= this.#max || this.#bytes > BYTES_MAX) return false;
    this.messages.push(data);
    return true;
  }
}

/** Set by the Worker on the forwarded request; a client's own value is overwritten. */
const CALLER_HEADER = "Matrx-Internal-Caller";
/** As above: where a device's request came from. */
const SOURCE_HEADER = "Matrx-Internal-Source";
const ACCOUNT_HEADER = "Matrx-Internal-Account";

/** The upgrade request of a caller whose credential the Worker has checked. */
export function callerUpgrade(request: Request, caller: TicketCaller): Request {
  return new Request(request.url, { headers: callerHeaders(request, caller) });
}

/** The headers of a request, with the caller that the Worker has checked. */
export function callerHeaders(request: Request, caller: TicketCaller): Headers {
  const headers = new Headers(request.headers);
  headers.set(CALLER_HEADER, JSON.stringify(caller));
  return headers;
}

/** The upgrade request of a device of this account from `source`, an address prefix; the object checks its credential. */
export function deviceUpgrade(request: Request, account: AccountId, source: string): Request {
  const headers = new Headers(request.headers);
  headers.delete(CALLER_HEADER);
  headers.set(ACCOUNT_HEADER, account);
  headers.set(SOURCE_HEADER, source);
  return new Request(request.url, { headers });
}

/** Where a device's request came from. */
export function sourceOfDevice(request: Request): string {
  return request.headers.get(SOURCE_HEADER) ?? "";
}

/** The account of a device that dials in, according to the directory. */
export function accountOf(request: Request): AccountId {
  return (request.headers.get(ACCOUNT_HEADER) ?? "") as AccountId;
}

/** The caller that the Worker authenticated, or undefined for a device. */
export function authenticatedCaller(request: Request): TicketCaller | undefined {
  const header = request.headers.get(CALLER_HEADER);
  return header ? (JSON.parse(header) as TicketCaller) : undefined;
}

/** A 101 response with `webSocket` as the client's end. */
export function switching(webSocket: WebSocket, headers: Record<string, string>): Response {
  return new Response(null, { status: 101, webSocket, headers });
}

/** Bytes queued on a socket. Older builds of the runtime do not count them; there a socket is assumed to keep up. */
export function queuedBytes(ws: WebSocket): number {
  return (ws as { bufferedAmount?: number }).bufferedAmount ?? 0;
}

/** Smaller frames leave little, and freeing takes a moment. */
const FREED_FROM_BYTES = 4 * 1024;

/** Sends a frame of a stream, and frees its memory, which the socket has copied. */
export function sendAndFree(ws: WebSocket, frame: Uint8Array<ArrayBuffer>): void {
  if (ws.readyState === WebSocket.OPEN) ws.send(frame);
  if (frame.length >= FREED_FROM_BYTES) free(frame.buffer);
}
