/** Ends many calls at once: those that a person cancels, and all that AI grants do. */
import type { GrantId } from "@matrx/shared/ids.ts";
import type { DeviceContext } from "../context.ts";
import type { PendingCall } from "../ledger/call.ts";
import { type PauseNews, type PauseState, stoppedError } from "../pause.ts";
import type { Calls } from "./calls.ts";
import type { ChangedRights } from "./changed-rights.ts";
import { unwatchedCalls } from "./unwatched.ts";

export class Stopping {
  readonly #context: DeviceContext;
  readonly #calls: Calls;
  readonly #rights: ChangedRights;

  constructor(context: DeviceContext, calls: Calls, rights: ChangedRights) {
    this.#context = context;
    this.#calls = calls;
    this.#rights = rights;
  }

  /** Asks for every call to stop, or for those of one grant. Returns how many had not ended. */
  cancelCalls(grant: GrantId | undefined): number {
    const now = Date.now();
    const isWanted = (one: { grant: GrantId }) => grant === undefined || one.grant === grant;
    const pending = this.#calls.pendingCalls.all().filter(isWanted);
    const unwatched = this.#unwatched().filter(isWanted);
    for (const one of pending) this.#calls.apply(one, "cancelled", now);
    for (const { call } of unwatched) this.#calls.cancel(call, now);
    return pending.length + unwatched.length;
  }

  /** The pause came with a lease: it holds from now on. What runs ends; jobs end when the Account's news arrives. */
  note(pause: PauseState): void {
    if (this.#context.pause.note(pause) && pause.paused) this.#endCalls();
  }

  /** Throws MatrxError `UNAVAILABLE` if something could not be written: then the Account tells it again. */
  apply(news: PauseNews): void {
    const { pause, approvals } = this.#context;
    pause.note(news);
    if (pause.mustStop(news)) {
      const unwatched = this.#unwatched();
      const concerned = new Set([...news.grants, ...this.#endCalls()]);
      for (const { call, grant } of unwatched) if (concerned.has(grant)) this.#calls.cancel(call);
      for (const grant of concerned) approvals.forgetGrant(grant);
      for (const grant of concerned) this.#rights.tellEnded(grant);
    }
    pause.confirm(news);
  }

  /** Ends the calls of all grants but the owner's, also those that wait for a person. Returns their grants. */
  #endCalls(): GrantId[] {
    const now = Date.now();
    const pending = this.#calls.pendingCalls.all().filter((one) => !this.#isOwners(one));
    for (const one of pending) this.#calls.apply(one, "revoked", now, stoppedError(!isUnsent(one)).shape());
    this.#context.streams.endFor(({ lease }) => !lease.scope.owner, stoppedError(true).shape());
    return pending.map(({ grant }) => grant);
  }

  /** A grant of which nothing is known is not taken for the owner's. */
  #isOwners({ grant }: PendingCall): boolean {
    return this.#context.leases.find(grant)?.scope.owner === true;
  }

  #unwatched(): PendingCall[] {
    return unwatchedCalls(this.#context.ledger, this.#calls.pendingCalls);
  }
}

function isUnsent({ phase }: PendingCall): boolean {
  return phase === "new" || phase === "parked" || phase === "accepted";
}
