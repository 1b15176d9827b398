/** The event streams of a device's callers: how many a grant has, and what waits for its readers altogether. */
import { MatrxError, problemOf } from "@matrx/shared/errors.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { revokedGrant } from "../leases.ts";
import type { ResponseBodies } from "./response-bodies.ts";
import { EVENTS_KEEP_ALIVE, EventStream } from "./sse.ts";

export class EventStreams {
  readonly #bodies: ResponseBodies;
  readonly #open = new Map<GrantId, Set<EventStream>>();

  constructor(bodies: ResponseBodies) {
    this.#bodies = bodies;
  }

  /** Throws MatrxError `RATE_LIMITED`. */
  open(grant: GrantId): EventStream {
    const streams = this.#open.get(grant) ?? new Set();
    if (streams.size >= LIMITS.streamsPerGrant) throw tooManyStreams();
    this.#open.set(grant, streams);
    const stream: EventStream = new EventStream(
      this.#bodies.open(grant, EVENTS_KEEP_ALIVE, () => this.#forget(stream, grant)),
    );
    streams.add(stream);
    return stream;
  }

  /** Whether so many bytes more may wait for a grant's readers. */
  hasRoomFor(bytes: number, grant: GrantId): boolean {
    return this.#bodies.hasRoomFor(bytes, grant);
  }

  /** The grant is gone: its readers are told, and hear no more. */
  revoke(grant: GrantId): void {
    const problem = new TextEncoder().encode(JSON.stringify(problemOf(revokedGrant())));
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
  return new MatrxError({
    code: "RATE_LIMITED",
    message: `This token already has ${LIMITS.streamsPerGrant} event streams open on the device`,
    hint: "Finish or close one first, or make your calls over one WebSocket",
    hop: "relay",
    details: { limit: LIMITS.streamsPerGrant },
  });
}
