/** What becomes of calls when the link drops, the device dies, or an answer does not come. */
import type { DeviceRegister } from "@matrx/shared/device-frames.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import { type CallId, callTime, isCallId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { outcomeUnknown } from "../../refusals.ts";
import type { DeviceContext } from "../context.ts";
import type { Calls } from "./calls.ts";
import type { PendingCall } from "./pending.ts";

/** What the agent's journal knows of a call. */
export interface CallStatus {
  tool_call_id: string;
  state: "never" | "started" | "finished" | "unknown";
}

/** Records may go this much earlier than their time, in milliseconds: a clock was set, or a caller chose the name. */
const PRUNED_EARLY = 60 * 60_000;

export class Recovery {
  readonly #context: DeviceContext;
  readonly #calls: Calls;
  /** When the link went down, while calls wait for it. */
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

  /** The device is back. What it need not be asked about is sent; of the rest it is asked what became of it. */
  linkUp(ours: boolean, journalIsNew: boolean, now: number): void {
    this.#downSince = undefined;
    if (journalIsNew) this.#journalLost(now);
    for (const pending of this.#calls.pendingCalls.all()) this.#calls.apply(pending, "link_up", now);
    const isOpen = (call: CallId) => this.#calls.pendingCalls.get(call)?.phase !== "delivered";
    const open = ours ? this.#context.ledger.openCalls().filter(isOpen) : [];
    if (open.length > 0) this.#context.link.send({ type: "call_status", tool_call_ids: open });
  }

  /** Tells whether the device knows of records that are not here any more: a disk lost them, or a backup is older. */
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

  /** The agent's journal tells what became of calls; those that began or ended answer by themselves. */
  status(calls: readonly CallStatus[], now: number): void {
    for (const { tool_call_id, state } of calls) {
      const pending = this.#calls.named(tool_call_id as CallId);
      if (state === "never")
        this.#calls.apply(pending, pending.deadline > now ? "never_came" : "expired", now);
      else if (state === "unknown") this.#calls.apply(pending, "lost", now);
    }
  }

  /** Ends what is past its time. */
  sweep(now: number): void {
    const gone = this.#downSince !== undefined && now - this.#downSince >= TIMES.reconnectGrace;
    if (gone) this.#downSince = undefined;
    for (const pending of this.#calls.pendingCalls.all()) {
      if (gone) this.#calls.apply(pending, "gone", now);
      else if (pending.phase === "answer_waits") continue;
      else if (now >= pending.deadline + TIMES.deadlineGrace) this.#calls.apply(pending, "overdue", now);
      else this.#sendAway(pending, now);
    }
  }

  /** When `sweep` has something to do next, in milliseconds since 1970. */
  nextSweep(): number | undefined {
    let next =
      this.#downSince === undefined ? Number.POSITIVE_INFINITY : this.#downSince + TIMES.reconnectGrace;
    for (const { deadline, recipients, phase } of this.#calls.pendingCalls.all()) {
      if (phase === "answer_waits") continue;
      next = Math.min(next, deadline + TIMES.deadlineGrace);
      for (const { waitsUntil } of recipients) next = Math.min(next, waitsUntil ?? next);
    }
    return Number.isFinite(next) ? next : undefined;
  }

  outcomeUnknown(call: CallId, message: string): ErrorShape {
    return outcomeUnknown(this.#context.device, call, message);
  }

  #journalLost(now: number): void {
    for (const call of this.#context.ledger.openCalls())
      this.#calls.apply(this.#calls.named(call), "journal_lost", now);
    this.#context.ledger.forgetJournal();
  }

  /** A REST caller has waited long enough and goes away with the call's name: now its outcome must be kept. */
  #sendAway(pending: PendingCall, now: number): void {
    const isOver = ({ waitsUntil }: { waitsUntil?: number | undefined }) =>
      waitsUntil !== undefined && now >= waitsUntil;
    const leaving = pending.recipients.filter(isOver);
    // Without a record they have to wait.
    if (leaving.length === 0 || (!pending.recorded && this.#context.ledger.takesNoRows)) return;
    this.#calls.apply(pending, "sent_away", now);
    pending.recipients = pending.recipients.filter((recipient) => !isOver(recipient));
    for (const recipient of leaving) recipient.sendAway(pending.call);
  }
}
