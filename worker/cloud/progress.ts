/** The answer to a transfer that may take hours: at its end, or as server-sent events that tell how far it is. */
import { acceptsEventStream, EVENT_STREAM } from "@matrx/shared/caller/request.ts";
import { problemResponse } from "../problem.ts";

/** Does the work, and tells how many bytes have arrived; resolves with the answer's body, or the response that refuses it. */
export type Transfer = (onArrived: (arrived: number) => Promise<void>) => Promise<object | Response>;

/** How much is read at once, in bytes. */
const PIECE = 256 * 1024;

/** How often somebody hears how much has arrived, in milliseconds. */
const TOLD_EVERY = 1000;

/** `total`: in bytes; null if nobody knows it yet. */
export async function transferResponse(
  request: Request,
  total: number | null,
  transfer: Transfer,
): Promise<Response> {
  if (acceptsEventStream(request)) return eventsOf(total, transfer);
  const end = await transfer(async () => undefined);
  return end instanceof Response ? end : Response.json(end, { status: 201 });
}

/** Calls it for the first of each second only. */
export function eachSecond(tell: (arrived: number) => Promise<void>): (arrived: number) => Promise<void> {
  let told = Date.now();
  return async (arrived) => {
    if (Date.now() - told < TOLD_EVERY) return;
    told = Date.now();
    await tell(arrived);
  };
}

/** If its reader leaves, the transfer is broken off. */
function eventsOf(total: number | null, transfer: Transfer): Response {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  const send = (event: string, data: string) =>
    writer.write(encoder.encode(`event: ${event}\ndata: ${data}\n\n`));
  const run = async () => {
    const tell = (bytes: number) => send("arrived", JSON.stringify({ bytes, total }));
    await tell(0);
    const end = await transfer(eachSecond(tell));
    if (end instanceof Response) await send("error", await end.text());
    else await send("stored", JSON.stringify(end));
  };
  const done = run().catch(async (error: unknown) => send("error", await problemResponse(error).text()));
  done.then(() => writer.close()).catch(() => undefined);
  return new Response(readable, {
    headers: {
      "Content-Type": EVENT_STREAM,
      "Cache-Control": "no-store, no-transform",
      // Otherwise proxies such as nginx buffer the response.
      "X-Accel-Buffering": "no",
    },
  });
}

/** The same bytes; each piece is told of before it goes on. */
export function counted(
  bytes: ReadableStream<Uint8Array>,
  onArrived: (arrived: number) => Promise<void>,
): ReadableStream<Uint8Array> {
  let arrived = 0;
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const reader = bytes.getReader({ mode: "byob" });
  // One buffer for all of it: new ones would pile up until the next major collection.
  let buffer: ArrayBufferLike = new ArrayBuffer(PIECE);
  const run = async () => {
    for (;;) {
      const { value, done }: ReadableStreamReadResult<Uint8Array> = await reader.readAtLeast(
        PIECE,
        new Uint8Array(buffer),
      );
      if (done || !value) break;
      arrived += value.length;
      await onArrived(arrived);
      await writer.write(value);
      buffer = value.buffer;
    }
    await writer.close();
  };
  run().catch((error: unknown) => {
    void reader.cancel(error).catch(() => undefined);
    void writer.abort(error).catch(() => undefined);
  });
  return readable;
}
