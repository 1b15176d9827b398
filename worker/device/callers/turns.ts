/** How many exchanges of one visit are under way at once; the others wait, in order. */
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";

/** Streams of a page's open connections, and of what it loads. Below `byteStreamsPerGrant`, and their windows fit too. */
export const EXCHANGES_AT_ONCE = 48;
const WAITING_MAX = 512;

interface Visit {
  underWay: number;
  readonly waiting: (() => void)[];
}

export class Turns {
  readonly #visits = new Map<string, Visit>();

  /** Resolves with a function that ends the turn, to be called once. Throws MatrxError `RATE_LIMITED` if too many wait. */
  async take(grant: string): Promise<() => void> {
    const visit = this.#visits.get(grant) ?? { underWay: 0, waiting: [] };
    this.#visits.set(grant, visit);
    if (visit.underWay < EXCHANGES_AT_ONCE) visit.underWay++;
    else if (visit.waiting.length >= WAITING_MAX) throw tooMany();
    else await new Promise<void>((resolve) => visit.waiting.push(resolve));
    return () => this.#end(grant, visit);
  }

  /** The next one takes the turn over. */
  #end(grant: string, visit: Visit): void {
    const next = visit.waiting.shift();
    if (next) return next();
    visit.underWay--;
    if (visit.underWay === 0) this.#visits.delete(grant);
  }
}

function tooMany(): MatrxError {
  return relayError("RATE_LIMITED", `More than ${WAITING_MAX} requests to this port are waiting`, {
    hint: "Wait until some were answered",
  });
}
