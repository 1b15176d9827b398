/** An answer that takes long begins as a stream of events, so that proxies keep the connection and a client that left is missed. */
import { bytesResponse } from "../caller/call-response.ts";
import { EVENT_STREAM } from "../caller/request.ts";

/** How long a response may take to begin, in milliseconds; one that is there by then needs no stream. */
const BEGINS_WITHIN = 1000;
/** That a client closed its connection is seen when something is written, at the latest after this time. */
export const KEEP_ALIVE_MS = 2000;

const encoder = new TextEncoder();
const KEEP_ALIVE = encoder.encode(": keepalive\n\n");
const EVENT_HEADERS = {
  "Content-Type": EVENT_STREAM,
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};

/** The answer itself, or a stream that will have it. `left` is called when the client leaves before it. */
export async function begun(answer: Promise<Response>, left: () => void): Promise<Response> {
  return (await within(BEGINS_WITHIN, answer)) ?? stream(answer, left);
}

/** The same answer for a client that takes nothing but events. */
export async function asEvents(response: Response): Promise<Response> {
  if (!response.ok || !response.body || isStream(response)) return response;
  return bytesResponse(eventOf(await response.text()), EVENT_HEADERS);
}

function stream(answer: Promise<Response>, left: () => void): Response {
  const events = eventsOf(answer);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await events.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      left();
      await events.return();
    },
  });
  return bytesResponse(body, EVENT_HEADERS);
}

async function* eventsOf(answer: Promise<Response>): AsyncGenerator<Uint8Array, void> {
  let response: Response | undefined;
  do {
    yield KEEP_ALIVE.slice();
    response = await within(KEEP_ALIVE_MS, answer);
  } while (!response);
  if (isStream(response) && response.body) return yield* response.body as AsyncIterable<Uint8Array>;
  const message = await response.text();
  // Without one, the endpoint was closed.
  if (message !== "") yield eventOf(message);
}

/** `undefined` if that takes longer. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function isStream({ headers }: Response): boolean {
  return headers.get("Content-Type")?.startsWith(EVENT_STREAM) ?? false;
}

function eventOf(message: string): Uint8Array {
  return encoder.encode(`event: message\ndata: ${message}\n\n`);
}
