/** Questions whose callers are gone: an answer would run a call that nobody can ask for, so they are withdrawn. */
import { TIMES } from "@matrx/shared/limits.ts";
import type { Parked } from "../ledger/parked.ts";
import { deserted } from "./refusals.ts";
import type { WaitingCalls } from "./waiting.ts";

export class Absence {
  readonly #waiting: WaitingCalls;

  constructor(waiting: WaitingCalls) {
    this.#waiting = waiting;
  }

  /** Its caller can ask for the call from now on, so that the question stays. */
  named(call: string): void {
    const parked = this.#waiting.get(call);
    if (parked?.wanted.isNameless) this.#waiting.noteWanted(parked, { isNameless: false, leftAt: undefined });
  }

  /** Withdraws a question once nobody has waited for its call for a while. Returns when that is due, in milliseconds since 1970. */
  look(parked: Parked, now: number): number | undefined {
    const { wanted, stage } = parked;
    if (stage !== "pending" || !wanted.isNameless) return undefined;
    const isAwaited = (this.#waiting.pendingOf(parked)?.recipients.length ?? 0) > 0;
    const leftAt = isAwaited ? undefined : (wanted.leftAt ?? now);
    if (leftAt !== wanted.leftAt) this.#waiting.noteWanted(parked, { leftAt });
    if (leftAt === undefined) return undefined;
    if (now < leftAt + TIMES.callerGone) return leftAt + TIMES.callerGone;
    this.#waiting.apply(parked, "desert", now, { error: deserted() });
    return undefined;
  }
}
