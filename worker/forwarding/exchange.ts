/** One request to a port of a device: a call of FetchPort, whose stream carries both bodies. */
import type { RestCall } from "@matrx/shared/caller/port.ts";
import { relayError } from "@matrx/shared/errors.ts";
import { HEAD_BYTES, type ResponseHead, readHead } from "@matrx/shared/forwarding/head.ts";
import { Pieces } from "@matrx/shared/forwarding/pieces.ts";
import { makeCallId } from "@matrx/shared/ids.ts";
import type { DevicePort } from "../port/device-port.ts";
import { headersToProgram, headersToVisitor, type Origins } from "./headers.ts";
import { toldAnswer, toldError } from "./pages.ts";

/** Where a request goes. */
export interface Destination {
  readonly device: DevicePort;
  readonly port: number;
  readonly origins: Origins;
}

/** What the program answered: its head, and what follows. */
export interface Answered {
  readonly head: ResponseHead;
  readonly pieces: Pieces;
  readonly cancel: () => void;
}

/** Asks the program; a Response says why it was not asked, or did not answer. Throws MatrxError. */
export async function ask(
  { device, port, origins }: Destination,
  request: Request,
  body: ReadableStream<Uint8Array> | undefined,
  websocket: boolean,
): Promise<Answered | Response> {
  const { answer, bytes } = await device.exchange(callFor(request, port, origins, websocket), body);
  if (!bytes) return await toldAnswer(answer, device.device);
  const reader = bytes.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  const pieces = new Pieces(read(reader));
  try {
    return { head: await readHead(pieces), pieces, cancel };
  } catch {
    cancel();
    return toldError(noHttp(port));
  }
}

function callFor(request: Request, port: number, origins: Origins, websocket: boolean): RestCall {
  const { pathname, search } = new URL(request.url);
  const headers = headersToProgram(request.headers, origins);
  const secret = { headers, ...(search && { query: search.slice(1) }) };
  const input = {
    port,
    method: request.method,
    path: pathname,
    secret,
    ...(websocket && { websocket: true }),
  };
  const text = JSON.stringify(input);
  if (text.length > HEAD_BYTES) throw tooLarge();
  return { tool: "FetchPort", input: text, call: makeCallId() };
}

/** Forwards a request and its response. Throws MatrxError. */
export async function forward(to: Destination, request: Request): Promise<Response> {
  const answered = await ask(to, request, request.body ?? undefined, false);
  return answered instanceof Response ? answered : responseOf(to, request, answered);
}

/** The program's response, as its visitor gets it. */
export function responseOf({ origins, device }: Destination, request: Request, answered: Answered): Response {
  const { head, pieces, cancel } = answered;
  const { status } = head;
  const headers = headersToVisitor(head.headers, origins);
  if (request.method === "HEAD" || WITHOUT_BODY.has(status)) {
    cancel();
    return new Response(null, { status, headers });
  }
  const length = headers.get("Content-Length");
  const whole = bodyOf(pieces, cancel);
  const isSized = length !== null && /^\d{1,15}$/.test(length);
  const body = isSized ? device.sized(whole, Number(length)) : whole;
  // It is encoded already, if at all.
  return new Response(body as BodyInit, { status, headers, encodeBody: "manual" });
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

function bodyOf(pieces: Pieces, cancel: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      const piece = await pieces.next();
      if (piece) controller.enqueue(piece as Uint8Array<ArrayBuffer>);
      else controller.close();
    },
    cancel,
  });
}

async function* read(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    yield value;
  }
}

function tooLarge() {
  return relayError(
    "PAYLOAD_TOO_LARGE",
    `The request's address and headers have more than ${HEAD_BYTES} bytes`,
    {
      hint: "Delete this host's cookies",
    },
  );
}

function noHttp(port: number) {
  return relayError("UNAVAILABLE", `Port ${port} of the device gave no HTTP response`, {
    hint: "Look at the program that serves it",
  });
}
