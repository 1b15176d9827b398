/**
 * Calls that only somebody at this machine may allow. The agent itself keeps what was decided here, so that no relay can
 * make it up. Kept in memory: after a restart, the question is asked again.
 */
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import { randomBase32 } from "@matrx/shared/ids.ts";
import type { Question } from "@matrx/shared/question.ts";

/** A call that waits for a decision. */
export interface WaitingCall {
  readonly id: string;
  readonly call: string;
  readonly binding: string;
  readonly question: Question;
  readonly grant: { readonly id: string; readonly owner: boolean };
  /** Milliseconds since 1970. */
  readonly asked: number;
  readonly expires: number;
}

export interface Decision {
  readonly allow: boolean;
  /** To the caller of a call that is denied. */
  readonly note?: string | undefined;
}

export interface DecidedCall extends WaitingCall {
  readonly decision: Decision;
}

const KEPT_MS = 10 * 60 * 1000;
/** More waiting questions than anybody reads. */
const WAITING_MAX = 256;

interface Kept {
  readonly waiting: WaitingCall;
  readonly decided: PromiseWithResolvers<Decision>;
  readonly timer: NodeJS.Timeout;
  decision: Decision | undefined;
}

export class MachineApprovals {
  /** By call. */
  readonly #kept = new Map<string, Kept>();
  /** How long a question waits, and a yes may be used, in milliseconds. */
  readonly keptMs: number;
  readonly #listeners = new Set<(decided: DecidedCall) => void>();

  constructor({ keptMs = KEPT_MS }: { keptMs?: number } = {}) {
    this.keptMs = keptMs;
  }

  /** Asks about a call; a question about the same is not asked twice. Throws MatrxError `RATE_LIMITED`. */
  ask(call: Pick<WaitingCall, "call" | "binding" | "question" | "grant">): WaitingCall {
    const known = this.#kept.get(call.call);
    if (known?.waiting.binding === call.binding) return known.waiting;
    this.withdraw(call.call);
    if (this.#kept.size >= WAITING_MAX) throw tooMany();
    const asked = Date.now();
    const waiting = { ...call, id: randomBase32(8), asked, expires: asked + this.keptMs };
    const decided = Promise.withResolvers<Decision>();
    decided.promise.catch(() => undefined);
    const timer = setTimeout(() => this.#drop(call.call, expiredError()), this.keptMs).unref();
    this.#kept.set(call.call, { waiting, decided, timer, decision: undefined });
    return waiting;
  }

  /** Resolves with the decision on a call that was asked about. Rejects with `APPROVAL_EXPIRED`, or the signal's reason. */
  async decisionOn(call: string, signal: AbortSignal): Promise<Decision> {
    const kept = this.#kept.get(call);
    if (!kept) throw expiredError();
    signal.throwIfAborted();
    const withdraw = () => this.#drop(call, signal.reason);
    signal.addEventListener("abort", withdraw, { once: true });
    try {
      return await kept.decided.promise;
    } finally {
      signal.removeEventListener("abort", withdraw);
    }
  }

  /** Whether somebody here allowed exactly this. */
  allows(call: string, binding: string): boolean {
    const kept = this.#kept.get(call);
    return kept?.waiting.binding === binding && kept.decision?.allow === true;
  }

  /** Calls without a decision, oldest first. */
  waiting(): WaitingCall[] {
    return [...this.#kept.values()].flatMap(({ waiting, decision }) => (decision ? [] : waiting));
  }

  /** Calls with a decision that is not old. */
  decided(): DecidedCall[] {
    return [...this.#kept.values()].flatMap(({ waiting, decision }) =>
      decision ? { ...waiting, decision } : [],
    );
  }

  /** Decides; the first decision counts. Throws MatrxError `NOT_FOUND`, or `CONFLICT` if it was decided otherwise. */
  decide(id: string, decision: Decision): DecidedCall {
    const kept = [...this.#kept.values()].find(({ waiting }) => waiting.id === id);
    if (!kept) throw notWaiting(id);
    if (kept.decision && kept.decision.allow !== decision.allow) throw decidedBefore(kept.decision);
    const decided = { ...kept.waiting, decision: kept.decision ?? decision };
    if (kept.decision) return decided;
    kept.decision = decision;
    kept.decided.resolve(decision);
    for (const listener of this.#listeners) listener(decided);
    return decided;
  }

  /** The call does not want to run any more. */
  withdraw(call: string): void {
    this.#drop(call, expiredError());
  }

  /** The grant was revoked: none of its calls can run any more. */
  endGrant(grant: string): void {
    for (const { waiting } of this.#kept.values())
      if (waiting.grant.id === grant) this.withdraw(waiting.call);
  }

  /** Calls the listener with each decision. Returns a function that unsubscribes. */
  onDecided(listener: (decided: DecidedCall) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #drop(call: string, why: unknown): void {
    const kept = this.#kept.get(call);
    if (!kept) return;
    this.#kept.delete(call);
    clearTimeout(kept.timer);
    kept.decided.reject(why);
  }
}

function expiredError(): MatrxError {
  return agentError(
    "APPROVAL_EXPIRED",
    "Nobody at the machine decided on this call in time, so it did not run",
    {
      hint: "Make the call again when somebody is there",
    },
  );
}

function notWaiting(id: string): MatrxError {
  return agentError("NOT_FOUND", `No call waits for a decision as "${id.slice(0, 64)}"`, {
    hint: "It may have expired, or been withdrawn; matrx approvals --here lists those that wait",
  });
}

function decidedBefore({ allow }: Decision): MatrxError {
  return agentError("CONFLICT", `This call was ${allow ? "allowed" : "denied"} before`, {
    hint: "The first decision counts",
  });
}

function tooMany(): MatrxError {
  return agentError("RATE_LIMITED", `${WAITING_MAX} calls wait for a decision at the machine already`, {
    hint: "Wait until somebody there has decided on some",
  });
}
