/** What becomes of calls when the link drops, the device dies, or an answer does not come. */
import type { DeviceRegister } from "@matrx/shared/device-frames.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import { type CallId, callTime, type DeviceId, isCallId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { outcomeUnknown } from "../../refusals.ts";
import { type DeviceLink, offlineError } from "../connection.ts";
import type { Calls } from "./calls.ts";
import type { Ledger } from "./ledger.ts";
import type { PendingCall } from "./pending.ts";

/** What the agent's journal knows of a call. */
export interface CallStatus {
  tool_call_id: string;
  state: "never" | "started" | "finished" | "unknown";
}

/** Records may go this much earlier than their time, in milliseconds: a clock was set, or a caller chose the name. */
const PRUNED_EARLY = 60 * 60_000;

export class Recovery {
  readonly #device: () => DeviceId;
  readonly #calls: Calls;
  readonly #link: DeviceLink;
  readonly #ledger: Ledger;
  /** When the link went down, while calls wait for it. */
  #downSince: number | undefined;

  constructor(device: () => DeviceId, calls: Calls, link: DeviceLink, ledger: Ledger) {
    this.#device = device;
    this.#calls = calls;
    this.#link = link;
    this.#ledger = ledger;
  }

  linkDown(now: number): void {
    if (this.#calls.pendingCalls.size > 0) this.#downSince = now;
  }

  /** The device is back. Reads run again; of effects it is asked what became of them. */
  linkUp(ours: boolean, journalIsNew: boolean, now: number): void {
    this.#downSince = undefined;
    if (journalIsNew) this.#journalLost(now);
    for (const pending of this.#calls.pendingCalls.all()) if (!pending.ledgered) this.#sendAgain(pending);
    const open = ours ? this.#ledger.openCalls() : [];
    if (open.length > 0) this.#link.send({ type: "call_status", tool_call_ids: open });
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
    const lost = last_calls.filter((call) => isKept(call) && !this.#ledger.find(call as CallId));
    if (ledger_id === ledgerId && lost.length === 0) return false;
    const such = lost.length > 0 ? `, such as ${lost.join(", ")}` : "";
    console.error(`device ${this.#device()}: the storage lost records of calls${such}`);
    return true;
  }

  /** The agent's journal tells what became of calls; those that began or ended answer by themselves. */
  status(calls: readonly CallStatus[], now: number): void {
    for (const { tool_call_id, state } of calls) {
      const call = tool_call_id as CallId;
      if (state === "never") this.#neverRan(call, now);
      else if (state === "unknown") this.#unknown(call, "The device stopped while the call was running", now);
    }
  }

  /** Ends what is past its time. */
  sweep(now: number): void {
    const gone = this.#downSince !== undefined && now - this.#downSince >= TIMES.reconnectGrace;
    if (gone) this.#downSince = undefined;
    for (const pending of this.#calls.pendingCalls.all()) {
      if (gone) this.#droppedOut(pending);
      else if (pending.waitsForReaders) continue;
      else if (now >= pending.deadline + TIMES.deadlineGrace)
        this.#overdue(
          pending,
          "The device did not answer in time",
          "Try again, or allow more time with timeout_ms",
        );
      else this.#sendAway(pending, now);
    }
  }

  /** When `sweep` has something to do next, in milliseconds since 1970. */
  nextSweep(): number | undefined {
    let next =
      this.#downSince === undefined ? Number.POSITIVE_INFINITY : this.#downSince + TIMES.reconnectGrace;
    for (const { deadline, recipients, waitsForReaders } of this.#calls.pendingCalls.all()) {
      if (waitsForReaders) continue;
      next = Math.min(next, deadline + TIMES.deadlineGrace);
      for (const { waitsUntil } of recipients) next = Math.min(next, waitsUntil ?? next);
    }
    return Number.isFinite(next) ? next : undefined;
  }

  outcomeUnknown(call: CallId, message: string): ErrorShape {
    return outcomeUnknown(this.#device(), call, message);
  }

  #sendAgain(pending: PendingCall): void {
    pending.unsent = false;
    if (pending.frame) this.#link.send(pending.frame);
    else this.#calls.refuse(pending, offlineError("The device disconnected before it answered").shape());
  }

  #neverRan(call: CallId, now: number): void {
    const pending = this.#calls.pendingCalls.get(call);
    if (pending) pending.unsent = false;
    if (pending?.frame && pending.deadline > now && this.#link.send(pending.frame)) return;
    this.#ledger.close(call, "expired", "DEVICE_OFFLINE", now);
    if (!pending) return;
    const { code, message, hop } = offlineError("The device disconnected before the call reached it");
    this.#calls.refuse(pending, { code, message, hint: "It did not run: send it again", hop });
  }

  #unknown(call: CallId, why: string, now: number): void {
    this.#ledger.close(call, "unknown", "OUTCOME_UNKNOWN", now);
    const pending = this.#calls.pendingCalls.get(call);
    if (pending) this.#calls.refuse(pending, this.outcomeUnknown(call, why));
  }

  #journalLost(now: number): void {
    for (const call of this.#ledger.openCalls())
      this.#unknown(call, "The device lost its record of the call", now);
    this.#ledger.forgetJournal();
  }

  #droppedOut(pending: PendingCall): void {
    const { call, ledgered } = pending;
    if (ledgered)
      this.#calls.refuse(
        pending,
        this.outcomeUnknown(call, "The device disconnected while the call was running"),
      );
    else this.#calls.refuse(pending, offlineError("The device disconnected before it answered").shape());
  }

  /** Its readers took nothing for as long as an answer waits. */
  unread(pending: PendingCall): void {
    this.#overdue(pending, "The answer was not read in time", "Read the answers that came before it");
  }

  #overdue(pending: PendingCall, message: string, hint: string): void {
    this.#calls.stop(pending.call);
    if (pending.ledgered) this.#calls.refuse(pending, this.outcomeUnknown(pending.call, message));
    else this.#calls.refuse(pending, { code: "TIMEOUT", message, hint, hop: "relay" });
  }

  /** A REST caller has waited long enough and goes away with the call's name: now its outcome must be kept. */
  #sendAway(pending: PendingCall, now: number): void {
    const isOver = ({ waitsUntil }: { waitsUntil?: number | undefined }) =>
      waitsUntil !== undefined && now >= waitsUntil;
    const leaving = pending.recipients.filter(isOver);
    // Without a record they have to wait.
    if (leaving.length === 0 || (!pending.ledgered && this.#ledger.takesNoRows)) return;
    if (!pending.ledgered && !this.#ledger.find(pending.call))
      this.#ledger.open({ ...pending, key: null, digest: null });
    pending.ledgered = true;
    pending.recipients = pending.recipients.filter((recipient) => !isOver(recipient));
    for (const recipient of leaving) recipient.sendAway(pending.call);
  }
}
