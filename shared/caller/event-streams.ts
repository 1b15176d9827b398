/** Server-sent events for HTTP readers. */
import { type ErrorShape, type MatrxError, problemOf, relayError } from "../errors.ts";
import type { GrantId } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import type { ResponseBodies } from "./response-bodies.ts";
import type { ResponseBody } from "./response-body.ts";

const encoder = new TextEncoder();

export class EventStreams {
  readonly #bodies: ResponseBodies;
  readonly #open = new Map<GrantId, Set<EventStream>>();
  /** Of guests, by their own session. */
  readonly #visits = new Map<EventStream, GrantId>();

  constructor(bodies: ResponseBodies) {
    this.#bodies = bodies;
  }

  /** `closed` is called once nothing is left of the stream. Throws MatrxError `RATE_LIMITED`. */
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

  /** Whether this many more bytes may queue up for a grant's readers. */
  hasRoomFor(bytes: number, grant: GrantId): boolean {
    return this.#bodies.hasRoomFor(bytes, grant);
  }

  /** The grant was revoked: tells its readers, and ends their streams. */
  revoke(grant: GrantId, why: ErrorShape): void {
    const problem = encoder.encode(JSON.stringify(problemOf(why)));
    for (const stream of [...(this.#open.get(grant) ?? [])]) stream.endEarly("error", problem);
  }

  /** A guest reads this stream, which ends with its session, too. */
  visitedBy(session: GrantId, stream: EventStream): void {
    this.#visits.set(stream, session);
  }

  /** A guest's session has ended. */
  endVisit(session: GrantId, why: ErrorShape): void {
    const problem = encoder.encode(JSON.stringify(problemOf(why)));
    for (const [stream, visitor] of [...this.#visits])
      if (visitor === session) stream.endEarly("error", problem);
  }

  get size(): number {
    return [...this.#open.values()].reduce((sum, { size }) => sum + size, 0);
  }

  #forget(stream: EventStream, grant: GrantId): void {
    const streams = this.#open.get(grant);
    streams?.delete(stream);
    this.#visits.delete(stream);
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

/** The comment that keeps an idle event stream alive. */
const EVENTS_KEEP_ALIVE = encoder.encode(": keep-alive\n\n");

export class EventStream {
  readonly #body: ResponseBody;

  constructor(body: ResponseBody) {
    this.#body = body;
  }

  get body(): ReadableStream<Uint8Array> {
    return this.#body.stream;
  }

  /** Called when the reader left, or was disconnected, before the call's end. */
  set onLeft(left: () => void) {
    this.#body.onLeft = left;
  }

  /** Whether the reader is so far behind that optional data is dropped. */
  get behind(): boolean {
    return this.#body.queued > LIMITS.streamQueueBytes;
  }

  /** Sends one event; `data` is JSON, and is copied. */
  send(event: string, data: Uint8Array, id?: string): void {
    if (!this.#body.isOver) this.#body.push(eventOf(`event: ${event}\n${id ? `id: ${id}\n` : ""}`, data));
  }

  /** Sends the last event. */
  end(event: string, data: Uint8Array): void {
    this.send(event, data, "end");
    this.#body.end();
  }

  /** Sends the last event before the call's end, as if the reader had left. */
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

/** The bytes of an event. JSON has line breaks only between tokens: any that a device wrote become spaces. */
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
