/** What happens to calls when the link drops, the device dies, or no answer comes. */
import type { DeviceRegister } from "@matrx/shared/device-frames.ts";
import { type CallId, callTime, isCallId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type { DeviceContext } from "../context.ts";
import type { PendingCall } from "../ledger/call.ts";
import type { Calls } from "./calls.ts";

/** What the agent's journal knows of a call. */
interface CallStatus {
  tool_call_id: string;
  state: "never" | "started" | "finished" | "unknown";
}

/** Records may be pruned this much early, in milliseconds: a clock was set, or a caller chose the name. */
const PRUNED_EARLY = 60 * 60_000;

export class Recovery {
  readonly #context: DeviceContext;
  readonly #calls: Calls;
  /** When the link went down, if calls are waiting for it. */
  #downSince: number | undefined;

  constructor(context: DeviceContext, calls: Calls) {
    this.#context = context;
    this.#calls = calls;
  }

  linkDown(now: number): void {
    const pendingCalls = this.#calls.pendingCalls.all();
    if (pendingCalls.length > 0) this.#downSince = now;
    for (const pending of pendingCalls) this.#calls.apply(pending, "link_down", now);
  }

  /** The device is back. Sends what can safely be sent, and asks the device about the rest. */
  linkUp(ours: boolean, journalIsNew: boolean, now: number): void {
    this.#downSince = undefined;
    if (journalIsNew) this.#journalLost(now);
    for (const pending of this.#calls.pendingCalls.all()) this.#calls.apply(pending, "link_up", now);
    const isOpen = (call: CallId) => this.#calls.pendingCalls.get(call)?.phase !== "delivered";
    const open = ours ? this.#context.ledger.openCalls().filter(isOpen) : [];
    if (open.length > 0) this.#context.link.send({ type: "call_status", tool_call_ids: open });
  }

  /** Whether the device knows of records that are missing here: a disk lost them, or an older backup was restored. */
  lostRecords(
    { ledger_id, last_calls = [] }: Pick<DeviceRegister, "ledger_id" | "last_calls">,
    ledgerId: string | undefined,
    now: number,
  ): boolean {
    if (ledger_id === undefined || ledgerId === undefined) return false;
    const isKept = (call: string) =>
      isCallId(call) && callTime(call) > now - TIMES.outcomeKept + PRUNED_EARLY;
    const lost = last_calls.filter((call) => isKept(call) && !this.#context.ledger.find(call as CallId));
    if (ledger_id === ledgerId && lost.length === 0) return false;
    const such = lost.length > 0 ? `, such as ${lost.join(", ")}` : "";
    console.error(`device ${this.#context.device}: the storage lost records of calls${such}`);
    return true;
  }

  /** Applies what the agent's journal says of calls; those that began or ended will answer by themselves. */
  status(calls: readonly CallStatus[], now: number): void {
    for (const { tool_call_id, state } of calls) {
      const pending = this.#calls.named(tool_call_id as CallId);
      if (state === "never") {
        pending.isKept = this.#context.approvals.sent(tool_call_id) !== undefined;
        this.#calls.apply(pending, pending.deadline > now ? "never_came" : "expired", now);
      }
      if (state === "unknown") this.#calls.apply(pending, "lost", now);
    }
  }

  /** Ends what is overdue. */
  sweep(now: number): void {
    const gone = this.#downSince !== undefined && now - this.#downSince >= TIMES.reconnectGrace;
    if (gone) this.#downSince = undefined;
    for (const pending of this.#calls.pendingCalls.all()) {
      if (gone) this.#calls.apply(pending, "gone", now);
      else if (pending.phase === "answer_waits") continue;
      else if (pending.phase === "parked") this.#sendAway(pending, now);
      else if (now >= pending.deadline + TIMES.deadlineGrace) this.#calls.apply(pending, "overdue", now);
      else this.#sendAway(pending, now);
    }
  }

  /** When `sweep` is next due, in milliseconds since 1970. */
  nextSweep(): number | undefined {
    let next =
      this.#downSince === undefined ? Number.POSITIVE_INFINITY : this.#downSince + TIMES.reconnectGrace;
    for (const { deadline, recipients, phase } of this.#calls.pendingCalls.all()) {
      if (phase === "answer_waits") continue;
      // Approvals expire by an alarm of their own.
      if (phase !== "parked") next = Math.min(next, deadline + TIMES.deadlineGrace);
      for (const { waitsUntil } of recipients) next = Math.min(next, waitsUntil ?? next);
    }
    return Number.isFinite(next) ? next : undefined;
  }

  #journalLost(now: number): void {
    for (const call of this.#context.ledger.openCalls())
      this.#calls.apply(this.#calls.named(call), "journal_lost", now);
    this.#context.ledger.forgetJournal();
  }

  /** A REST caller has waited long enough and is sent away with the call's name: from now on its outcome must be kept. */
  #sendAway(pending: PendingCall, now: number): void {
    const isOver = ({ waitsUntil }: { waitsUntil?: number | undefined }) =>
      waitsUntil !== undefined && now >= waitsUntil;
    const leaving = pending.recipients.filter(isOver);
    // Without a record they have to keep waiting.
    if (leaving.length === 0 || (!pending.recorded && this.#context.ledger.takesNoRows)) return;
    this.#calls.apply(pending, "sent_away", now);
    pending.recipients = pending.recipients.filter((recipient) => !isOver(recipient));
    for (const recipient of leaving) {
      recipient.sendAway(pending.call, pending.approval);
      this.#calls.left(pending.call, recipient.knowsName, now);
    }
  }
}
