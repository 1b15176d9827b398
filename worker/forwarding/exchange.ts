/** One request to a port of a device: a call of FetchPort, whose stream carries both bodies. */
import type { WantedCall } from "@matrx/shared/caller/port.ts";
import { relayError } from "@matrx/shared/errors.ts";
import { HEAD_BYTES, type ResponseHead, readHead } from "@matrx/shared/forwarding/head.ts";
import { makeCallId } from "@matrx/shared/ids.ts";
import type { DevicePort } from "../port/device-port.ts";
import { ExactReader } from "./exact-reader.ts";
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
  /** Has read the head. */
  readonly reader: ExactReader;
  readonly bytes: ReadableStream<Uint8Array>;
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
  const reader = new ExactReader(bytes);
  try {
    const head = await readHead(reader);
    if (head.status < 200 && !websocket) throw new Error(`The status ${head.status} is no response`);
    return { head, reader, bytes };
  } catch {
    reader.cancel();
    return toldError(noHttp(port));
  }
}

function callFor(request: Request, port: number, origins: Origins, websocket: boolean): WantedCall {
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
export function responseOf({ origins }: Destination, request: Request, answered: Answered): Response {
  const { head, reader, bytes } = answered;
  const { status } = head;
  const headers = headersToVisitor(head.headers, origins);
  if (request.method === "HEAD" || WITHOUT_BODY.has(status)) {
    reader.cancel();
    return new Response(null, { status, headers });
  }
  const length = headers.get("Content-Length");
  reader.release();
  const isSized = length !== null && /^\d{1,15}$/.test(length);
  // The runtime takes what was piped as a body, but nothing that has been read from.
  const through = isSized ? new FixedLengthStream(Number(length)) : new IdentityTransformStream();
  const body = bytes.pipeThrough(through);
  // It is encoded already, if at all.
  return new Response(body, { status, headers, encodeBody: "manual" });
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

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
