/** Server-sent events for HTTP readers. */
import { type ErrorShape, type MatrxError, problemOf, relayError } from "../errors.ts";
import type { GrantId } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import type { ResponseBodies } from "./response-bodies.ts";
import type { ResponseBody } from "./response-body.ts";

const encoder = new TextEncoder();

/** Whoever follows a call under a grant, which may end before the call. */
export interface GrantReader {
  /** Tells it why, as if it had left. */
  endEarly(why: ErrorShape): void;
}

export class EventStreams {
  readonly #bodies: ResponseBodies;
  readonly #open = new Map<GrantId, Set<GrantReader>>();
  /** Of guests, by their own session. */
  readonly #visits = new Map<GrantReader, GrantId>();

  constructor(bodies: ResponseBodies) {
    this.#bodies = bodies;
  }

  /** `closed` is called once nothing is left of the stream. Throws MatrxError `RATE_LIMITED`. */
  open(grant: GrantId, closed: () => void = () => undefined): EventStream {
    this.#requireRoom(grant);
    const stream: EventStream = new EventStream(
      this.#bodies.open(grant, EVENTS_KEEP_ALIVE, () => {
        this.forget(stream, grant);
        closed();
      }),
    );
    this.#add(stream, grant);
    return stream;
  }

  /** Counts a reader that needs no stream as one of them, until it is forgotten. Throws MatrxError `RATE_LIMITED`. */
  join(grant: GrantId, reader: GrantReader): void {
    this.#requireRoom(grant);
    this.#add(reader, grant);
  }

  #requireRoom(grant: GrantId): void {
    if ((this.#open.get(grant)?.size ?? 0) >= LIMITS.streamsPerGrant) throw tooManyStreams();
  }

  #add(reader: GrantReader, grant: GrantId): void {
    this.#open.set(grant, (this.#open.get(grant) ?? new Set()).add(reader));
  }

  /** Whether this many more bytes may queue up for a grant's readers. */
  hasRoomFor(bytes: number, grant: GrantId): boolean {
    return this.#bodies.hasRoomFor(bytes, grant);
  }

  /** The grant was revoked: tells its readers, and ends their streams. */
  revoke(grant: GrantId, why: ErrorShape): void {
    for (const reader of [...(this.#open.get(grant) ?? [])]) reader.endEarly(why);
  }

  /** A guest reads, which ends with its session, too. */
  visitedBy(session: GrantId, reader: GrantReader): void {
    this.#visits.set(reader, session);
  }

  /** A guest's session has ended. */
  endVisit(session: GrantId, why: ErrorShape): void {
    for (const [reader, visitor] of [...this.#visits]) if (visitor === session) reader.endEarly(why);
  }

  get size(): number {
    return [...this.#open.values()].reduce((sum, { size }) => sum + size, 0);
  }

  forget(reader: GrantReader, grant: GrantId): void {
    const readers = this.#open.get(grant);
    readers?.delete(reader);
    this.#visits.delete(reader);
    if (readers?.size === 0) this.#open.delete(grant);
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

export class EventStream implements GrantReader {
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
  endEarly(why: ErrorShape): void {
    if (this.#body.isOver) return;
    this.end("error", encoder.encode(JSON.stringify(problemOf(why))));
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
