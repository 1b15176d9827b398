/** Server-sent events towards readers. */
import { type ErrorShape, type MatrxError, problemOf, relayError } from "../errors.ts";
import type { GrantId } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import type { ResponseBodies } from "./response-bodies.ts";
import type { ResponseBody } from "./response-body.ts";

const encoder = new TextEncoder();

export class EventStreams {
  readonly #bodies: ResponseBodies;
  readonly #open = new Map<GrantId, Set<EventStream>>();

  constructor(bodies: ResponseBodies) {
    this.#bodies = bodies;
  }

  /** `closed` is told once nothing of the stream is left. Throws MatrxError `RATE_LIMITED`. */
  open(grant: GrantId, closed: () => void = () => undefined): EventStream {
    const streams = this.#open.get(grant) ?? new Set();
    if (streams.size >= LIMITS.streamsPerGrant) throw tooManyStreams();
    this.#open.set(grant, streams);
    const stream: EventStream = new EventStream(
      this.#bodies.open(grant, EVENTS_KEEP_ALIVE, () => {
        this.#forget(stream, grant);
        closed();
      }),
    );
    streams.add(stream);
    return stream;
  }

  /** Whether so many bytes more may wait for a grant's readers. */
  hasRoomFor(bytes: number, grant: GrantId): boolean {
    return this.#bodies.hasRoomFor(bytes, grant);
  }

  /** The grant is gone: its readers are told, and hear no more. */
  revoke(grant: GrantId, why: ErrorShape): void {
    const problem = encoder.encode(JSON.stringify(problemOf(why)));
    for (const stream of [...(this.#open.get(grant) ?? [])]) stream.endEarly("error", problem);
  }

  get size(): number {
    return [...this.#open.values()].reduce((sum, { size }) => sum + size, 0);
  }

  #forget(stream: EventStream, grant: GrantId): void {
    const streams = this.#open.get(grant);
    streams?.delete(stream);
    if (streams?.size === 0) this.#open.delete(grant);
  }
}

function tooManyStreams(): MatrxError {
  const limit = LIMITS.streamsPerGrant;
  return relayError("RATE_LIMITED", `This token already has ${limit} event streams open on the device`, {
    hint: "Finish or close one first, or make your calls over one WebSocket",
    details: { limit },
  });
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** What an event stream says while nothing else is said. */
export const EVENTS_KEEP_ALIVE = encoder.encode(": keep-alive\n\n");

export class EventStream {
  readonly #body: ResponseBody;

  constructor(body: ResponseBody) {
    this.#body = body;
  }

  get body(): ReadableStream<Uint8Array> {
    return this.#body.stream;
  }

  /** Hears when the reader went away, or was sent away, before the call's end. */
  set onLeft(left: () => void) {
    this.#body.onLeft = left;
  }

  /** The reader is so far behind that what may be left out is. */
  get behind(): boolean {
    return this.#body.queued > LIMITS.streamQueueBytes;
  }

  /** One event; `data` is JSON, and is copied. */
  send(event: string, data: Uint8Array, id?: string): void {
    if (!this.#body.isOver) this.#body.push(eventOf(`event: ${event}\n${id ? `id: ${id}\n` : ""}`, data));
  }

  /** The last event. */
  end(event: string, data: Uint8Array): void {
    this.send(event, data, "end");
    this.#body.end();
  }

  /** The last event of a reader who may not go on. */
  endEarly(event: string, data: Uint8Array): void {
    if (this.#body.isOver) return;
    this.end(event, data);
    this.#body.onLeft();
  }

  /** Ends without a last event. */
  cut(): void {
    this.#body.cut();
  }
}

/** An event's bytes. JSON has line breaks between its tokens only: where a device wrote some, they become spaces. */
function eventOf(head: string, data: Uint8Array): Uint8Array {
  const before = encoder.encode(`${head}data: `);
  const bytes = new Uint8Array(before.length + data.length + 2);
  bytes.set(before);
  bytes.set(data, before.length);
  for (const char of [LINE_FEED, CARRIAGE_RETURN]) {
    for (let at = bytes.indexOf(char, before.length); at !== -1; at = bytes.indexOf(char, at + 1))
      bytes[at] = 32;
  }
  bytes.fill(LINE_FEED, before.length + data.length);
  return bytes;
}
