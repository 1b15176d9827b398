/** Calls in flight: applies what callers and the device do to them, as `ledger/call-state.ts` decides. `recovery.ts` handles dropped links. */
import type { CallApproval } from "@matrx/shared/approval.ts";
import { errorAnswer } from "@matrx/shared/caller/error-answer.ts";
import type { WantedCall } from "@matrx/shared/caller/port.ts";
import type { ToolProgress } from "@matrx/shared/device-frames.ts";
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import type { CallId, DeviceId, GrantId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { takeOne } from "@matrx/shared/rate-limit.ts";
import type { OutputHeader, ResultHeader } from "@matrx/shared/result-frame.ts";
import { outcomeUnknown } from "../../refusals.ts";
import { Tally } from "../../tally.ts";
import { offlineError } from "../connection.ts";
import type { DeviceContext } from "../context.ts";
import { callApprovalOf } from "../ledger/approval-rows.ts";
import type { Keyed, Passed, PendingCall } from "../ledger/call.ts";
import { type CallEvent, next, type Step } from "../ledger/call-state.ts";
import { InputPreview } from "../ledger/input-preview.ts";
import { follow, PendingCalls } from "../ledger/pending.ts";
import type { Recipient } from "../ledger/recipient.ts";
import type { CallEnd } from "../observing/call-end.ts";
import { keptFacts } from "../observing/drafts.ts";
import { type Sign, silent } from "../sign-of-life.ts";
import { withApproval } from "./caller-answers.ts";
import { checkedAnswer, type DeviceAnswer, isOutputOf } from "./device-answer.ts";
import { requireEnforced, requireStreams } from "./enforcement.ts";
import { executeFrame, extrasOf, framePartsOf, replayFrame } from "./execute-frame.ts";
import { refusalAfter, unknownAfter } from "./refusals.ts";

/** A call that waited for a person before the object hibernated. */
interface ParkedBefore
  extends Pick<PendingCall, "call" | "tool" | "effect" | "grant" | "created" | "approval"> {
  readonly expires: number;
  readonly wanted: { readonly id: string | undefined };
}

/** Reports of progress that arrive together, because the network held them back, all pass. */
const PROGRESS_RATE = { burst: 10, everyMs: TIMES.progressEvery };

/** Ends for callers only: the device has yet to say whether the call arrived. */
const UNCERTAIN: ReadonlySet<CallEvent> = new Set(["gone", "overdue"]);
/** Only these are no answer to what somebody did. */
const KEPT_REASONS: ReadonlySet<CallEvent> = new Set(["refused", "never_came", "expired"]);

const encoder = new TextEncoder();

/** What the calls' owner does when one changes. */
interface Hooks {
  /** It got its one answer, or nobody waits for it any more. */
  readonly settled: (call: string) => void;
  /** Somebody who waited for a call that waits for a person left. */
  readonly left: (call: CallId, knowsName: boolean, now: number) => void;
  /** A person allowed it, it was sent, and the device never got it. */
  readonly waitsAgain: (call: CallId, now: number) => void;
}

/** An earlier call, as the ledger knows it. */
type RecordedCall = Pick<
  PendingCall,
  "call" | "tool" | "effect" | "grant" | "created" | "deadline" | "approval"
>;

export class Calls {
  readonly pendingCalls = new PendingCalls();
  /** Answers to calls that were never sent. */
  readonly strays: Tally;
  readonly #context: DeviceContext;
  readonly #hooks: Hooks;
  /** Effect calls whose outcomes are to be acknowledged to the agent once durable. */
  #acks: string[] = [];
  /** Calls without a row whose callers were answered, or left, before the device answered. */
  readonly #givenUp = new Set<string>();

  constructor(context: DeviceContext, hooks: Hooks) {
    this.#context = context;
    this.#hooks = hooks;
    this.strays = new Tally(
      (count) => `device ${context.store.record?.id} answered calls it was not given: ${count}`,
      (at) => context.timer.by(at),
    );
  }

  /**
   * Writes the ledger row of an effect, then sends the frame; a silent device must give a sign of life first. If it throws
   * MatrxError, nothing was sent and the recipient was told nothing.
   */
  send(
    wanted: WantedCall,
    passed: Passed,
    keyed: Keyed | undefined,
    now: number,
    recipient: Recipient,
  ): CallId {
    const socket = this.#context.signs.requireLive(now);
    const { call } = wanted;
    const { lease } = recipient;
    const { tool, effect } = passed;
    const timeoutMs = wanted.timeoutMs ?? passed.toolTimeoutMs;
    const deadline = now + timeoutMs;
    const { ours, protocol } = socket.attachment;
    const { store } = this.#context;
    requireEnforced(tool, wanted.input, lease.scope, store.policy, socket.attachment);
    requireStreams(recipient.opens, socket.attachment);
    const extras = ours
      ? extrasOf(framePartsOf(wanted, passed, keyed, recipient), lease, store.limits(protocol))
      : "";
    const frame = executeFrame(call, tool, timeoutMs, wanted.input, extras);
    const pending: PendingCall = {
      call,
      tool,
      id: recipient.id,
      effect,
      grant: lease.scope.id as GrantId,
      created: now,
      deadline,
      recipients: [recipient],
      phase: "new",
      recorded: false,
      frame,
      holder: lease.holder,
      input: new InputPreview(wanted.tool, wanted.input),
      missed: 0,
    };
    const { to = "new", row } = next(pending, "admitted");
    if (row === "open") this.#record(pending, keyed);
    pending.phase = to;
    recipient.accepted(call, deadline, effect);
    this.#begin(pending, now);
    return call;
  }

  /** Keeps an admitted call from being sent, until it is released or refused. Its row is written, whatever its effect. */
  park(
    wanted: WantedCall,
    { passed, keyed, deadline }: { passed: Passed; keyed: Keyed | undefined; deadline: number },
    now: number,
    recipient: Recipient,
  ): void {
    const { call } = wanted;
    const { id, lease } = recipient;
    const { tool, effect } = passed;
    const input = new InputPreview(wanted.tool, wanted.input);
    const pending: PendingCall = {
      ...{ call, tool, id, effect, grant: lease.scope.id as GrantId, created: now, deadline },
      ...{ recipients: [recipient], phase: "new", recorded: false, holder: lease.holder, input, missed: 0 },
    };
    const { to = "new" } = next(pending, "parked");
    pending.phase = to;
    this.#record(pending, keyed);
    recipient.accepted(call, deadline, effect);
    recipient.parked();
    this.pendingCalls.add(pending);
  }

  /** The same call after hibernation; its callers' sockets are restored afterwards. */
  restoreParked(parked: ParkedBefore): void {
    const { call, tool, effect, grant, created, expires, wanted, approval } = parked;
    this.pendingCalls.add({
      ...{ call, tool, id: wanted.id, effect, grant, created, deadline: expires, approval },
      ...{ recipients: [], phase: "parked", recorded: true, missed: 0 },
    });
  }

  /** Sends a parked call. */
  release(
    pending: PendingCall,
    { frame, timeoutMs }: { frame: string; timeoutMs: number },
    now: number,
  ): void {
    const { to } = next(pending, "released");
    if (!to) return;
    const deadline = now + timeoutMs;
    this.#context.ledger.release(pending.call, deadline, keptFacts(pending));
    Object.assign(pending, { frame, deadline, releasedAt: now, phase: to } satisfies Partial<PendingCall>);
    this.#begin(pending, now);
    this.#context.callStarted(now);
  }

  /** Applies an event to a call as `call-state.ts` decides; `error` gives the reason where `refusals.ts` has none. */
  apply(pending: PendingCall, event: CallEvent, now: number, error?: ErrorShape): void {
    const step = next(pending, event);
    const { to, row, device, callers } = step;
    const refusal = callers === "refusal" ? (error ?? refusalAfter(event)) : undefined;
    if (to === "ended") {
      this.#context.observer.ended(pending, endAfter(event, pending, refusal, now), now);
      this.#giveUp(pending);
    } else if (to) pending.phase = to;
    else if (row && row !== "open") this.#context.observer.recorded(pending.call, now);
    if (row === "open") this.#keep(pending);
    else if (row === "expired") this.#closeExpired(pending, event, refusal ?? refusalAfter(event), now);
    else if (row === "unknown") this.#context.ledger.close(pending.call, row, "OUTCOME_UNKNOWN", now);
    if (device === "send") this.#sendFrame(pending, now);
    else if (device === "stop" && !this.#stop(pending.call)) this.apply(pending, "unstoppable", now);
    if (refusal) this.#refuse(pending, refusal);
    else if (callers === "unknown")
      this.#refuse(pending, outcomeUnknown(this.#device(), pending.call, unknownAfter(event)));
    if (to === "parked") this.#hooks.waitsAgain(pending.call, now);
    else if (event === "cancelled" || isCertain(event, step)) this.#context.approvals.settle(pending.call);
    if (to === "ended") this.#hooks.settled(pending.call);
  }

  /** Why a call never ran is kept for callers that ask later, such as the note of a person who denied it. */
  #closeExpired({ call }: PendingCall, event: CallEvent, why: ErrorShape, now: number): void {
    const answer =
      KEPT_REASONS.has(event) &&
      encoder.encode(JSON.stringify(errorAnswer(why, { call, device: this.#device() })));
    const kept = answer && answer.length <= LIMITS.ledgerOutcomeBytes ? answer : undefined;
    this.#context.ledger.close(call, "expired", why.code, now, kept);
  }

  /** The call with this name; for one that is not in flight, events may still update a row. */
  named(call: CallId): PendingCall {
    return this.pendingCalls.get(call) ?? endedCall(call);
  }

  #record(pending: PendingCall, keyed: Keyed | undefined): void {
    const { key, digest } = keyed ?? { key: null, digest: null };
    const state = pending.phase === "parked" ? "awaiting_approval" : "accepted";
    this.#context.ledger.open({ ...pending, key, digest, state, audit: keptFacts(pending) });
    pending.recorded = true;
  }

  /** A read that fetches an outcome from the journal has a row already. */
  #keep(pending: PendingCall): void {
    if (this.#context.ledger.find(pending.call)) pending.recorded = true;
    else this.#record(pending, undefined);
  }

  #refuse({ recipients, call }: PendingCall, error: ErrorShape): void {
    for (const recipient of recipients) recipient.refuse(error, call);
  }

  /** Returns false if the link is down, or the device does not know `tool_cancel`. */
  #stop(call: CallId): boolean {
    const ours = this.#context.link.current?.attachment.ours ?? false;
    return ours && this.#context.link.send({ type: "tool_cancel", tool_call_id: call });
  }

  #sendFrame(pending: PendingCall, now: number): void {
    const { current } = this.#context.link;
    try {
      if (!current) throw droppedOut();
      this.#context.link.sendTo(current, pending.frame ?? "");
      this.pendingCalls.sent(pending);
    } catch (error) {
      this.apply(pending, "undeliverable", now, (error instanceof MatrxError ? error : broken()).shape());
    }
  }

  /** Sends an admitted call; a silent device must give a sign of life first. */
  #begin(pending: PendingCall, now: number): void {
    this.pendingCalls.add(pending);
    this.#context.observer.started(pending, now);
    if (!this.#context.signs.isDue(now)) return this.apply(pending, "alive", now);
    const told = (sign: Sign, at: number) => {
      if (sign === "alive") this.apply(pending, "alive", at);
      else if (sign === "silent")
        this.apply(
          pending,
          "undeliverable",
          at,
          (this.#context.link.current ? silent() : droppedOut()).shape(),
        );
    };
    try {
      this.#context.signs.wait(pending.frame?.length ?? 0, told, now);
    } catch (error) {
      if (!(error instanceof MatrxError)) throw error;
      this.apply(pending, "undeliverable", now, error.shape());
    }
  }

  /** Handles the device's answer. */
  result(header: ResultHeader, body: Uint8Array, now: number): void {
    const { call } = header;
    const pending = this.pendingCalls.get(call) ?? this.#unawaited(call, now);
    // Asked about, but not sent: there is nothing to answer.
    if (pending.phase === "parked") return this.strays.add(now);
    const checked = checkedAnswer({ header, body }, { id: pending.id, device: this.#device() });
    const answer = pending.approval?.edited ? edited(checked, pending.approval) : checked;
    this.#context.proof.note(answer.header, pending.tool, now);
    const { to, row, callers } = next(pending, "answered");
    if (to) this.#end(pending);
    if (callers)
      for (const recipient of pending.recipients)
        recipient.result(answer.header, answer.body, pending.missed);
    if (to) this.#context.observer.ended(pending, { ...answer.header, bytes: answer.body.length }, now);
    else if (row) this.#context.observer.recorded(pending.call, now);
    if (pending.approval) this.#context.approvals.settle(call);
    this.#hooks.settled(call);
    // Unknown outcomes are acknowledged too, so that they are not sent again.
    const isDone = row === "outcome" ? this.#context.ledger.finish(answer.header, answer.body, now) : !to;
    if (isDone) this.#acks.push(call);
  }

  /** Passes on live output. It may be dropped, which is reported as a gap. Of those who joined later, only streams get it. */
  output({ call }: OutputHeader, body: Uint8Array): void {
    const pending = this.pendingCalls.get(call);
    const [recipient, ...others] = pending?.recipients ?? [];
    if (!pending || !recipient || pending.phase === "parked") return;
    if (!isOutputOf(body, pending.id)) return void pending.missed++;
    if (recipient.output(body, pending.missed)) pending.missed = 0;
    else pending.missed++;
    for (const other of others) other.output(body, 0);
  }

  /** Passes on how far a call is, or drops it if that comes too fast: the newest will follow. */
  progress({ type: _, tool_call_id, ...progress }: ToolProgress, now: number): void {
    const pending = this.pendingCalls.get(tool_call_id);
    if (!pending || pending.phase === "parked") return;
    const taken = takeOne(pending.progressed ?? 0, PROGRESS_RATE, now);
    if (taken === undefined) return;
    pending.progressed = taken;
    for (const recipient of pending.recipients) recipient.progress(progress);
  }

  /** Asks the device to stop a call. A bare device does not know `tool_cancel`, so its caller is answered here. */
  cancel(call: CallId, now: number = Date.now()): void {
    this.apply(this.named(call), "cancelled", now);
  }

  /** A caller left. If it was the last one waiting, its call stops or continues; an effect's outcome is kept. */
  abandon(call: CallId, left: (recipient: Recipient) => boolean, stop: boolean): void {
    const pending = this.pendingCalls.get(call);
    if (!pending) return;
    const now = Date.now();
    const leaving = pending.recipients.filter(left);
    pending.recipients = pending.recipients.filter((recipient) => !left(recipient));
    if (pending.recipients.length === 0) this.apply(pending, stop ? "abandoned" : "left", now);
    for (const { knowsName } of leaving) this.left(call, knowsName, now);
  }

  /** A caller no longer waits for a call. If the call still waits for a person, that depends on whether it can ask again. */
  left(call: CallId, knowsName: boolean, now: number): void {
    if (this.pendingCalls.get(call)?.phase === "parked") this.#hooks.left(call, knowsName, now);
  }

  /** Fetches an outcome that only the agent's journal holds. */
  replay(recorded: RecordedCall, recipient: Recipient, now: number): void {
    const { call, tool } = recorded;
    const frame = replayFrame(call, tool);
    const socket = this.#context.link.current;
    if (!socket?.attachment.ours) {
      const error = offlineError("The outcome is in the device's journal, and the device is offline");
      return recipient.refuse(error.shape(), call);
    }
    const fetching = { effect: "read" as const, created: now, deadline: now + TIMES.callDefault, frame };
    const pending: PendingCall = {
      ...{ ...recorded, ...fetching, phase: "accepted", recorded: false },
      ...{ recipients: [], isReplay: true, missed: 0 },
    };
    follow(pending, recipient);
    this.#begin(pending, now);
  }

  /** Waits again for a call that is still running, after all its recipients left and the object hibernated. */
  rejoin(recorded: RecordedCall, recipient: Recipient): void {
    const pending: PendingCall = {
      ...{ ...recorded, phase: "in_doubt", recorded: true },
      ...{ recipients: [], missed: 0 },
    };
    follow(pending, recipient);
    this.pendingCalls.add(pending);
  }

  get hasAcks(): boolean {
    return this.#acks.length > 0;
  }

  /** Tells the agent which outcomes are durable; the platform holds back the frame until they are. */
  flushAcks(): void {
    if (this.#acks.length === 0) return;
    this.#context.ledger.flush();
    if (this.#context.ledger.isUnsaved) return;
    const tool_call_ids = this.#acks;
    this.#acks = [];
    if (this.#context.link.current?.attachment.ours)
      this.#context.link.reply({ type: "result_ack", tool_call_ids });
  }

  #device(): DeviceId {
    return this.#context.store.record?.id ?? ("" as DeviceId);
  }

  #end(pending: PendingCall): void {
    pending.phase = "ended";
    this.pendingCalls.remove(pending);
  }

  /** Ends a call without the device's answer, which may still come. */
  #giveUp(pending: PendingCall): void {
    this.#end(pending);
    if (pending.recorded) return;
    if (this.#givenUp.size >= LIMITS.unansweredPerDevice) this.#givenUp.clear();
    this.#givenUp.add(pending.call);
  }

  /** A call that nobody waits for: it has a row, was given up, or was never sent. */
  #unawaited(call: string, now: number): PendingCall {
    const { ledger, approvals } = this.#context;
    const recorded = ledger.find(call as CallId) !== undefined;
    if (!recorded && !this.#givenUp.delete(call)) this.strays.add(now);
    const approval = recorded ? callApprovalOf(approvals.ofCall(call)) : undefined;
    return { ...endedCall(call as CallId), recorded, approval };
  }
}

/** Whether it is known what became of a call, so that nothing of it is kept for sending it again. */
function isCertain(event: CallEvent, { to, row }: Step): boolean {
  return to === "ended" ? !UNCERTAIN.has(event) : row === "expired" || row === "unknown";
}

/** How a call ended that got no answer from the device. */
function endAfter(
  event: CallEvent,
  { created, releasedAt }: PendingCall,
  refusal: ErrorShape | undefined,
  now: number,
): CallEnd {
  const ms = now - (releasedAt ?? created);
  if (!refusal && (event === "left" || event === "abandoned"))
    return { status: "cancelled", ms, preview: "Nobody waited for it any more" };
  if (!refusal) return { status: "unknown", code: "OUTCOME_UNKNOWN", ms, preview: unknownAfter(event) };
  const { code, message: preview } = refusal;
  return { status: code === "CANCELLED" ? "cancelled" : "error", code, ms, preview };
}

/** A call of which nothing is known, except that it may have a row. */
function endedCall(call: CallId): PendingCall {
  return {
    ...{ call, tool: "", effect: "execute", grant: "" as GrantId, created: 0, deadline: 0, missed: 0 },
    ...{ recipients: [], phase: "ended", recorded: true },
  };
}

/** The body is no longer as the device wrote it, so neither is its digest. */
function edited({ header, body }: DeviceAnswer, approval: CallApproval): DeviceAnswer {
  const { sha256: _, ...rest } = header;
  return { header: rest, body: withApproval(body, approval) };
}

function droppedOut(): MatrxError {
  return offlineError("The device dropped out before the call was sent");
}

function broken(): MatrxError {
  return offlineError("The device's connection broke while the call was being sent");
}
