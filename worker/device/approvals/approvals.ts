/**
 * Calls that a person must allow first. They are parked before they are sent, prepared by the device, decided by a person,
 * and then sent like any other. `look` does whatever is due, and may run at any time.
 */
import type { ApprovalDetail, Decision } from "@matrx/shared/approval.ts";
import type { WantedCall } from "@matrx/shared/caller/port.ts";
import type { ApprovalDecided, ToolPrepared } from "@matrx/shared/device-frames.ts";
import type { MatrxError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { CallId, GrantId } from "@matrx/shared/ids.ts";
import { isLongerThan } from "@matrx/shared/json-input.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { AccountNews } from "../account-news.ts";
import type { Calls } from "../calls/calls.ts";
import { requireEnforced } from "../calls/enforcement.ts";
import { framePartsOf } from "../calls/execute-frame.ts";
import { offlineError } from "../connection.ts";
import type { DeviceContext } from "../context.ts";
import type { Lease } from "../leases.ts";
import type { ApprovalRows } from "../ledger/approval-rows.ts";
import type { Keyed, Passed } from "../ledger/call.ts";
import { callApproval, type Parked, parkedCall } from "../ledger/parked.ts";
import { follow } from "../ledger/pending.ts";
import type { Recipient } from "../ledger/recipient.ts";
import { ENFORCES_ALL } from "../store.ts";
import { Absence } from "./absence.ts";
import { AskedTools } from "./asking.ts";
import { Decisions, type Person } from "./decisions.ts";
import { Delivery } from "./delivery.ts";
import { Preparation } from "./preparation.ts";
import { allowedTooLate, tooLargeToAsk, tooManyWaiting, undecided } from "./refusals.ts";
import { repeatedCall } from "./repeats.ts";
import { WaitingCalls } from "./waiting.ts";

/** What it needs besides the device's context. */
interface Parts {
  readonly calls: Calls;
  readonly news: AccountNews;
  /** Schedules work by alarm, so that it is done even if the object sleeps. */
  readonly schedule: (name: "approvals" | "outbox", at: number) => void;
}

const LEFT = "The device disconnected before it said whether the owner must be asked: the call did not run";

export class Approvals {
  readonly #context: DeviceContext;
  readonly #calls: Calls;
  readonly #schedule: Parts["schedule"];
  readonly #tools: AskedTools;
  readonly #rows: ApprovalRows;
  readonly #waiting: WaitingCalls;
  readonly #preparation: Preparation;
  readonly #delivery: Delivery;
  readonly #decisions: Decisions;
  readonly #absence: Absence;

  constructor(context: DeviceContext, { calls, news, schedule }: Parts) {
    this.#context = context;
    this.#calls = calls;
    this.#schedule = schedule;
    this.#tools = new AskedTools(context.store);
    this.#rows = context.approvals;
    this.#waiting = new WaitingCalls(context, this.#rows, { calls, news });
    this.#preparation = new Preparation(context, calls, this.#waiting);
    this.#delivery = new Delivery(context, calls, this.#waiting);
    this.#decisions = new Decisions(context, this.#waiting, this.#preparation);
    this.#absence = new Absence(this.#waiting);
  }

  /** Whether a person may have to be asked about a call. */
  mayAsk(passed: Passed, { input }: WantedCall, { scope }: Lease): boolean {
    return this.#tools.mayAsk(passed, scope) || this.#isWorthAsking(input, scope);
  }

  /** The device came with other rules than are known here: until it tells them, it is asked about each call, if there is room. */
  #isWorthAsking(input: string, grant: GrantScope): boolean {
    const { ours, protocol, manifestDue } = this.#context.link.current?.attachment ?? {};
    if (!ours || !manifestDue || (protocol ?? 0) < ENFORCES_ALL) return false;
    return !isLongerThan(input, LIMITS.approvalInputBytes) && !this.#crowd(grant.id as GrantId);
  }

  /** Takes an admitted call that a rule may ask about. If it throws MatrxError, nothing was kept or sent. */
  park(
    wanted: WantedCall,
    passed: Passed,
    keyed: Keyed | undefined,
    now: number,
    recipient: Recipient,
  ): CallId {
    const { store, signs } = this.#context;
    const { call } = wanted;
    const { lease } = recipient;
    const { attachment } = signs.requireLive(now);
    requireEnforced(passed.tool, wanted.input, lease.scope, store.policy, attachment);
    if (isLongerThan(wanted.input, LIMITS.approvalInputBytes)) throw tooLargeToAsk();
    const crowd = this.#crowd(lease.scope.id as GrantId);
    if (crowd) throw crowd;
    this.#rows.requireWritable();
    const parts = framePartsOf(wanted, passed, keyed, recipient);
    const isNameless = !keyed && !recipient.knowsName;
    const parked = parkedCall(
      { call, grant: lease.scope.id as GrantId, tool: passed.tool, effect: passed.effect },
      { ...parts, ...(isNameless && { isNameless }) },
      now,
    );
    this.#rows.add(parked, wanted.input);
    this.#waiting.add(parked);
    const latest = TIMES.prepareWithin + TIMES.approval + (wanted.timeoutMs ?? passed.toolTimeoutMs);
    this.#calls.park(wanted, { passed, keyed, deadline: now + latest }, now, recipient);
    this.#preparation.start(parked, lease, wanted.input, now);
    this.look(now);
    return call;
  }

  /** Has a caller that repeats a waiting call wait for that one; undefined if it is another call. */
  rejoin(wanted: WantedCall, tool: string, now: number, recipient: Recipient): CallId | undefined {
    const parked = repeatedCall(wanted, tool, recipient, this.#waiting, now);
    const pending = parked && this.#waiting.pendingOf(parked);
    if (!parked || !pending) return undefined;
    recipient.accepted(parked.call, pending.deadline, parked.effect);
    follow(pending, recipient);
    this.look(now);
    return parked.call;
  }

  /** After hibernation or a restart: the calls that wait, before their callers' sockets are restored. */
  restore(): void {
    if (!this.#context.store.record) return;
    for (const parked of this.#rows.open()) {
      this.#waiting.add(parked);
      this.#calls.restoreParked({ ...parked, approval: callApproval(parked) });
    }
    if (this.#waiting.size > 0) this.#context.timer.by(Date.now());
  }

  prepared(frame: ToolPrepared, now: number): void {
    this.#preparation.prepared(frame, now);
    this.look(now);
  }

  /** Throws MatrxError `NOT_FOUND`. */
  view(id: string): ApprovalDetail {
    return this.#decisions.view(id);
  }

  /** The Account has checked that a person decides. The call is sent at once if the device is there. Rejects with MatrxError. */
  async decide(id: string, decision: Decision, person: Person): Promise<ApprovalDetail> {
    await this.#decisions.decide(id, decision, person);
    this.look(Date.now());
    if (decision.for === "always") await this.#decisions.except(id, person);
    return this.view(id);
  }

  decidedAtMachine(frame: ApprovalDecided, now: number): void {
    this.#decisions.atMachine(frame, now);
    this.look(now);
  }

  /** The device is connected, perhaps on another link than the one it was asked on. */
  linkUp(now: number): void {
    for (const parked of this.#waiting.all()) parked.preparedBy = undefined;
    // If the relay was killed, the account may not know yet what waits.
    if (this.#waiting.size > 0) this.#schedule("outbox", now);
    this.look(now);
    for (const parked of this.#waiting.all()) if (isForMachine(parked)) this.#remind(parked, now);
  }

  /** The device says that a call which was allowed and sent never arrived: it waits for the device, until its own deadline. */
  waitAgain(call: CallId, now: number): void {
    const parked = this.#rows.sent(call);
    const row = this.#context.ledger.find(call);
    if (!parked || !row) return;
    parked.expires = row.deadline;
    this.#waiting.add(parked);
    if (!this.#waiting.pendingOf(parked))
      this.#calls.restoreParked({ ...parked, approval: callApproval(parked) });
    this.#waiting.apply(parked, "return", now);
    this.look(now);
  }

  linkDown(now: number): void {
    this.#preparation.linkDown(offlineError(LEFT).shape(), now);
  }

  /** Somebody who waited for this call left: whoever knows its name may come back for it. */
  left(call: CallId, knowsName: boolean, now: number): void {
    if (!this.#waiting.get(call)) return;
    if (knowsName) this.#absence.named(call);
    this.look(now);
  }

  /** A call ended, in whatever way. */
  settled(call: string): void {
    if (this.#waiting.size > 0) this.#waiting.settled(call, Date.now());
  }

  /** The grant was revoked; its waiting calls end with its other calls. */
  revoke(grant: GrantId): void {
    this.#rows.forgetGrant(grant);
  }

  /** The device was removed. */
  destroy(): void {
    this.#waiting.destroy();
  }

  /** Sends what may be sent and ends what is over. Returns when that is next due. */
  look(now: number): number | undefined {
    this.#waiting.flush();
    if (this.#waiting.size === 0) return undefined;
    this.#preparation.sweep(now);
    for (const parked of this.#waiting.all()) this.#lookAt(parked, now);
    const absences = this.#waiting.all().map((parked) => this.#absence.look(parked, now));
    const expiries = [
      ...this.#waiting.all().map(({ stage, expires }) => (stage === "preparing" ? undefined : expires)),
      ...absences,
    ].filter((due) => due !== undefined);
    if (expiries.length === 0) return undefined;
    const next = Math.min(...expiries);
    this.#schedule("approvals", next);
    return next;
  }

  #lookAt(parked: Parked, now: number): void {
    const { stage, expires, preparedBy } = parked;
    if (stage === "preparing") {
      if (preparedBy === undefined) this.#prepareAgain(parked, now);
    } else if (expires <= now) {
      const error = stage === "allowed" ? allowedTooLate() : undecided();
      this.#waiting.apply(parked, "expire", now, { error });
    } else if (stage === "allowed") this.#delivery.attempt(parked, now);
  }

  /** The link or this object is a new one. */
  #prepareAgain(parked: Parked, now: number): void {
    if (!this.#context.link.current) return this.#preparation.linkDown(offlineError(LEFT).shape(), now);
    this.#delivery.leased(parked, now, (lease) => {
      const at = Date.now();
      if (parked.stage !== "preparing" || parked.preparedBy !== undefined) return;
      this.#preparation.start(parked, lease, this.#rows.input(parked.id), at);
      if (parked.stage !== "preparing") this.look(at);
    });
  }

  #remind(parked: Parked, now: number): void {
    this.#delivery.leased(parked, now, (lease) => {
      if (isForMachine(parked))
        this.#preparation.remind(parked, lease, this.#rows.input(parked.id), Date.now());
    });
  }

  /** Why no more calls may wait; undefined: there is room. */
  #crowd(grant: GrantId): MatrxError | undefined {
    const { approvalsPerGrant, approvalsPerDevice } = LIMITS;
    const waiting = this.#waiting.all();
    if (waiting.length >= approvalsPerDevice) return tooManyWaiting("device", approvalsPerDevice);
    const own = waiting.filter((parked) => parked.grant === grant);
    return own.length >= approvalsPerGrant ? tooManyWaiting("token", approvalsPerGrant) : undefined;
  }
}

function isForMachine({ stage, at }: Parked): boolean {
  return stage === "pending" && at === "machine";
}
