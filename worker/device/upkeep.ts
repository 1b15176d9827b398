/** The object's own upkeep: handles slow calls and whatever has expired, so that it can hibernate in between. */
import { TIMES } from "@matrx/shared/limits.ts";
import { AlarmTable } from "../storage/alarms.ts";
import type { AccountNews } from "./account-news.ts";
import type { Approvals } from "./approvals/approvals.ts";
import type { Callers } from "./callers/sockets.ts";
import type { AnswerCredit } from "./calls/answer-credit.ts";
import type { Calls } from "./calls/calls.ts";
import type { Recovery } from "./calls/recovery.ts";
import type { DeviceContext } from "./context.ts";
import type { DeviceMessages } from "./link/messages.ts";
import type { DeviceSockets } from "./link/sockets.ts";
import type { TakeOvers } from "./link/take-overs.ts";

/** The parts that need upkeep. */
interface Parts {
  readonly calls: Calls;
  readonly recovery: Recovery;
  readonly approvals: Approvals;
  readonly news: AccountNews;
  readonly credit: AnswerCredit;
  readonly callers: Callers;
  readonly sockets: DeviceSockets;
  readonly messages: DeviceMessages;
  readonly takeOvers: TakeOvers;
}

/** How often an object checks long calls, in milliseconds. */
const LOOK_AGAIN = 60_000;
/** How often old outcomes are removed, in milliseconds. */
const PRUNE_EVERY = 6 * 60 * 60_000;

export class Upkeep {
  readonly #context: DeviceContext;
  readonly #parts: Parts;
  readonly #alarms: AlarmTable<"calls" | "prune" | "grants" | "approvals" | "outbox" | "audit" | "takeOvers">;

  constructor(context: DeviceContext, parts: Parts) {
    this.#context = context;
    this.#parts = parts;
    const calls = (now: number) => void this.tick(now);
    this.#alarms = new AlarmTable(
      context.storage,
      {
        calls,
        prune: (now) => this.#prune(now),
        grants: (now) => parts.callers.closeExpired(now),
        approvals: (now) => parts.approvals.look(now),
        outbox: (now) => parts.news.flush(now),
        audit: (now) => context.audit.ring(now),
        takeOvers: (now) => parts.takeOvers.look(now),
      },
      context.health,
    );
  }

  /** Handles the platform's alarm. */
  ring(now: number): Promise<void> {
    return this.#alarms.ring(now);
  }

  /** Schedules work that is done even if the object sleeps: sockets of expired grants, approvals, news for the Account. */
  schedule(name: "grants" | "approvals" | "outbox" | "audit" | "takeOvers", at: number): void {
    this.#alarms.by(name, at);
  }

  /** Handles acknowledgements, attachments, deadlines and silent links. */
  tick(now: number): void {
    const { store, events, health } = this.#context;
    const { calls, recovery, approvals, credit, callers, sockets, messages } = this.#parts;
    if (!store.record) return;
    calls.flushAcks();
    calls.strays.flush(now);
    messages.reports.flush(now);
    events.flush();
    credit.look(now);
    callers.persist(now);
    sockets.persist(now);
    if (calls.pendingCalls.size > 0) sockets.requireSigns(now);
    recovery.sweep(now);
    approvals.look(now);
    health.probe();
    this.#lookAgain(now);
  }

  #prune(now: number): number | undefined {
    const { ledger, approvals } = this.#context;
    ledger.prune(now);
    approvals.prune(now);
    return ledger.isEmpty() ? undefined : now + PRUNE_EVERY;
  }

  #lookAgain(now: number): void {
    const { signs, ledger, timer, observer, heads } = this.#context;
    const { pendingCalls } = this.#parts.calls;
    const settled = observer.settle(pendingCalls.all(), now);
    if (settled === undefined) heads.quiet(now);
    else timer.by(settled);
    if (signs.isAsked && pendingCalls.size > 0) timer.by(now + TIMES.signWithin);
    if (ledger.isUnsaved) timer.by(now + TIMES.settleAfter);
    // Also while calls are under way: on a busy device some always are.
    if (!ledger.isEmpty()) this.#alarms.by("prune", now + PRUNE_EVERY);
    const next = this.#parts.recovery.nextSweep();
    if (next === undefined) return;
    const young = pendingCalls.all().some(({ created }) => now - created < TIMES.settleAfter);
    if (young || next - now <= 2 * TIMES.settleAfter) timer.by(Math.min(next, now + TIMES.settleAfter));
    else this.#alarms.by("calls", Math.min(next, now + LOOK_AGAIN));
  }
}
