/** Calls that are under way, in memory; those of sockets older than five seconds also stand in the socket's attachment. */
import type { Effect } from "@matrx/shared/effects.ts";
import type { CallId, GrantId } from "@matrx/shared/ids.ts";
import type { Recipient } from "./recipient.ts";

export interface Flight {
  readonly call: CallId;
  /** Empty after a sleep. */
  readonly tool: string;
  /** The caller's id; REST has none. */
  readonly id?: string | undefined;
  readonly effect: Effect;
  readonly grant: GrantId;
  readonly created: number;
  readonly deadline: number;
  /** The caller, then others that gave the same idempotency key. Empty: they left; an effect's outcome is kept. */
  recipients: Recipient[];
  /** A row stands in the ledger. */
  ledgered: boolean;
  /** The frame, to be sent again after a reconnect; absent when large, or after a sleep. */
  readonly frame?: string | undefined;
  /** Frames of live output left out since the last one that was passed on. */
  missed: number;
}

/** Frames up to this length are kept for sending again. */
export const KEPT_FRAME_CHARS = 64 * 1024;

export class Flights {
  readonly #flights = new Map<CallId, Flight>();

  get size(): number {
    return this.#flights.size;
  }

  add(flight: Flight): void {
    this.#flights.set(flight.call, flight);
  }

  get(call: string): Flight | undefined {
    return this.#flights.get(call as CallId);
  }

  /** Takes a flight out: it gets its one answer now. */
  take(call: string): Flight | undefined {
    const flight = this.#flights.get(call as CallId);
    if (flight) this.#flights.delete(flight.call);
    return flight;
  }

  /** A copy, so that flights may be taken out meanwhile. */
  all(): Flight[] {
    return [...this.#flights.values()];
  }
}
