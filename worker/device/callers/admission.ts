/** Admits every call, from a socket or REST: gate, idempotency, then the device. Without an await, so there are no races. */
import type { WantedCall } from "@matrx/shared/caller/port.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import { type ErrorShape, isErrorCode, MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { CallId, GrantId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import { outcomeUnknown } from "../../refusals.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { Calls } from "../calls/calls.ts";
import { passGate, passMessage } from "../calls/gate.ts";
import { digestOf, requireSameCall } from "../calls/idempotency.ts";
import type { DeviceContext } from "../context.ts";
import type { Lease } from "../leases.ts";
import { callApprovalOf } from "../ledger/approval-rows.ts";
import type { Keyed, Passed } from "../ledger/call.ts";
import type { LedgerRow } from "../ledger/ledger.ts";
import { follow } from "../ledger/pending.ts";
import type { Recipient } from "../ledger/recipient.ts";

const NOT_KNOWN = "The call's outcome is not known";

export class Admission {
  readonly #context: DeviceContext;
  readonly #calls: Calls;
  readonly #approvals: Approvals;

  constructor(context: DeviceContext, calls: Calls, approvals: Approvals) {
    this.#context = context;
    this.#calls = calls;
    this.#approvals = approvals;
  }

  /** Throws MatrxError `RATE_LIMITED`. */
  message(lease: Lease, now: number): void {
    passMessage(lease, this.#context.store, this.#context.rates, now);
  }

  /** Sends a call, parks it until a person allows it, or delivers the outcome that its idempotency key stands for. If it throws MatrxError, nothing was sent. */
  admit(wanted: WantedCall, now: number, recipient: Recipient): CallId {
    try {
      return this.#admit(wanted, now, recipient);
    } catch (error) {
      if (error instanceof MatrxError)
        this.#context.observer.refused(wanted, recipient.lease, error.shape(), now);
      throw error;
    }
  }

  #admit(wanted: WantedCall, now: number, recipient: Recipient): CallId {
    const { store, rates, pause, link, health } = this.#context;
    const calls = this.#calls;
    // If the storage failed, connections broke with it: then the device is not to blame for being offline.
    if (!link.current) health.requireWritable();
    const keeping = { store, rates, pause, underWay: calls.pendingCalls.size };
    const passed = passGate(wanted, recipient.lease, keeping, now);
    const keyed = keyedOf(wanted, passed);
    const earlier = keyed && this.#earlier(passed, keyed, now, recipient);
    if (earlier) return earlier;
    if (wanted.chosen) this.#requireNew(wanted.call);
    if (this.#approvals.mayAsk(passed, wanted, recipient.lease))
      return (
        this.#approvals.rejoin(wanted, passed.tool, now, recipient) ??
        this.#approvals.park(wanted, passed, keyed, now, recipient)
      );
    return calls.send(wanted, passed, keyed, now, recipient);
  }

  /** Reveals nothing about the call that has the name: it may be another grant's. Throws MatrxError `CONFLICT`. */
  #requireNew(call: CallId): void {
    const { ledger } = this.#context;
    if (this.#calls.pendingCalls.get(call) || ledger.find(call)) throw takenName();
  }

  /** The call that a key already stands for; this recipient gets its outcome too, now or later. */
  #earlier(
    { effect }: Passed,
    { key, digest }: Keyed,
    now: number,
    recipient: Recipient,
  ): CallId | undefined {
    const { ledger } = this.#context;
    const grant = recipient.lease.scope.id as GrantId;
    const row = key === null ? undefined : ledger.findByKey(grant, key, now);
    if (!row) return undefined;
    requireSameCall(row, digest);
    const call = row.call as CallId;
    recipient.accepted(call, Math.max(row.deadline, now + TIMES.callDefault), effect);
    this.join(row, recipient, now);
    return call;
  }

  /** Delivers the outcome of a recorded call to one more recipient, now or later. */
  join(row: LedgerRow, recipient: Recipient, now: number): void {
    const { approvals, link, device } = this.#context;
    const calls = this.#calls;
    const call = row.call as CallId;
    const grant = row.grant_id as GrantId;
    const effect = row.effect as Effect;
    const { tool, created, deadline } = row;
    const approval = callApprovalOf(approvals.ofCall(call));
    const recorded = { call, tool, effect, grant, created, deadline, approval };
    const pending = calls.pendingCalls.get(call);
    if (row.outcome) {
      recipient.follow();
      recipient.result(headerOf(row), new Uint8Array(row.outcome), 0);
    } else if (pending) follow(pending, recipient);
    else if (row.state === "finished" && row.bytes !== null) calls.replay(recorded, recipient, now);
    else if (row.state === "accepted" && row.deadline > now && link.current)
      calls.rejoin(recorded, recipient);
    else if (row.state === "expired") recipient.refuse(neverRan(row.code), call);
    else recipient.refuse(outcomeUnknown(device, call, NOT_KNOWN), call);
  }
}

/** A read needs no key: it may run again. */
function keyedOf({ key, chosen, input }: WantedCall, { tool, effect }: Passed): Keyed | undefined {
  if (effect === "read" || (key === undefined && !chosen)) return undefined;
  return { key: key ?? null, digest: digestOf(tool, input) };
}

function takenName(): MatrxError {
  return relayError("CONFLICT", "Another call already has this name", {
    hint: "If it is yours, ask for its record; use a new name for each new call",
  });
}

function neverRan(code: string | null): ErrorShape {
  const message = "The call never reached the device, so it did not run";
  return { code: isErrorCode(code) ? code : "DEVICE_OFFLINE", message, hint: "Send it again", hop: "relay" };
}

function headerOf(row: { call: string; status: string | null; code: string | null }): ResultHeader {
  const status = (row.status ?? "success") as ResultHeader["status"];
  return { call: row.call, status, ms: 0, ...(isErrorCode(row.code) && { code: row.code }) };
}
