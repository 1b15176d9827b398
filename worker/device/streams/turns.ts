/** How many exchanges of one visit are under way at once; the others wait, in order. */
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";

/** Streams of a page's open connections, and of what it loads. Below `byteStreamsPerGrant`, and their windows fit too. */
export const EXCHANGES_AT_ONCE = 48;
const WAITING_MAX = 512;
/**
 * An exchange without a byte for so long makes room for one that waits, in milliseconds. The runtime does not say that a
 * visitor left before the program answered: a page that was loaded again a few times would wait for itself for ever.
 */
export const SILENT_FOR = 30_000;

/** The right to be under way. */
export interface Turn {
  /** From now on it may be broken off by `giveUp`, which ends it, once it is silent. */
  begin(giveUp: () => void): void;
  /** Something was sent, either way. */
  active(): void;
  /** To be called once. */
  end(): void;
}

interface UnderWay {
  activeAt: number;
  giveUp: (() => void) | undefined;
}

interface Visit {
  readonly underWay: Set<UnderWay>;
  readonly waiting: ((turn: Turn) => void)[];
  timer: ReturnType<typeof setTimeout> | undefined;
}

export class Turns {
  readonly #visits = new Map<string, Visit>();

  /** Throws MatrxError `RATE_LIMITED` if too many wait. */
  async take(grant: string): Promise<Turn> {
    const visit = this.#visits.get(grant) ?? { underWay: new Set(), waiting: [], timer: undefined };
    this.#visits.set(grant, visit);
    if (visit.underWay.size < EXCHANGES_AT_ONCE) return this.#begin(grant, visit);
    if (visit.waiting.length >= WAITING_MAX) throw tooMany();
    return await new Promise((resolve) => {
      visit.waiting.push(resolve);
      makeRoom(visit);
    });
  }

  #begin(grant: string, visit: Visit): Turn {
    const one: UnderWay = { activeAt: Date.now(), giveUp: undefined };
    visit.underWay.add(one);
    return {
      begin: (giveUp) => {
        Object.assign(one, { activeAt: Date.now(), giveUp });
        makeRoom(visit);
      },
      active: () => {
        one.activeAt = Date.now();
      },
      end: () => {
        visit.underWay.delete(one);
        visit.waiting.shift()?.(this.#begin(grant, visit));
        if (visit.underWay.size > 0) return;
        clearTimeout(visit.timer ?? null);
        this.#visits.delete(grant);
      },
    };
  }
}

/** While others wait, breaks off what has been silent too long, and looks again when the next one will have been. */
function makeRoom(visit: Visit): void {
  const { underWay, waiting } = visit;
  for (;;) {
    const [quietest] = [...underWay]
      .filter(({ giveUp }) => giveUp !== undefined)
      .sort((one, other) => one.activeAt - other.activeAt);
    if (waiting.length === 0 || !quietest) return;
    const left = quietest.activeAt + SILENT_FOR - Date.now();
    if (left > 0) {
      visit.timer ??= setTimeout(() => {
        visit.timer = undefined;
        makeRoom(visit);
      }, left);
      return;
    }
    const { giveUp } = quietest;
    quietest.giveUp = undefined;
    giveUp?.();
  }
}

function tooMany(): MatrxError {
  return relayError("RATE_LIMITED", `More than ${WAITING_MAX} requests to this port are waiting`, {
    hint: "Wait until some were answered",
  });
}
