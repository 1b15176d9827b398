/** Callers that follow a call: over HTTP as a stream of events (`call`, `output`, `gap`, then `result`, `error` or `pending`), or MCP in this object. */
import type { CallApproval } from "@matrx/shared/approval.ts";
import { CallEvents, type CallReader } from "@matrx/shared/caller/call-events.ts";
import type { EventStreams } from "@matrx/shared/caller/event-streams.ts";
import type { OpenStream, WantedCall } from "@matrx/shared/caller/port.ts";
import type { Progress } from "@matrx/shared/content.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { CallId, DeviceId, GrantId } from "@matrx/shared/ids.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import { readsTooSlowly, withId } from "../calls/caller-answers.ts";
import type { Calls } from "../calls/calls.ts";
import type { DeviceContext } from "../context.ts";
import type { Lease, LeasedCaller } from "../leases.ts";
import { follow } from "../ledger/pending.ts";
import type { Recipient } from "../ledger/recipient.ts";
import type { Admission } from "./admission.ts";
import { requireMaker } from "./rest.ts";
import type { WatchedCall } from "./watched-call.ts";

interface EarlierCall {
  call: CallId;
  waitMs: number | undefined;
}

export class Followers {
  readonly #context: DeviceContext;
  readonly #admission: Admission;
  readonly #calls: Calls;
  readonly #streams: EventStreams;

  constructor(context: DeviceContext, admission: Admission, calls: Calls, streams: EventStreams) {
    this.#context = context;
    this.#admission = admission;
    this.#calls = calls;
    this.#streams = streams;
  }

  /** Makes a call, and streams its progress. If it throws MatrxError, nothing was sent. */
  streamCall(wanted: WantedCall, by: LeasedCaller, now: number): OpenStream {
    this.#admission.message(by.lease, now);
    return this.#streamed(by, (events) => this.#make(wanted, by.lease, events, now));
  }

  /** Streams the progress of an earlier call, for a while or to its end. Throws MatrxError `NOT_FOUND`. */
  streamEarlier(earlier: EarlierCall, by: LeasedCaller, now: number): OpenStream {
    this.#admission.message(by.lease, now);
    return this.#streamed(by, (events) => this.#join(earlier, by.lease, events, now));
  }

  /** Makes a call for a reader in this object. If it throws MatrxError, nothing was sent. */
  watchCall(wanted: WantedCall, by: LeasedCaller, watched: WatchedCall, now: number): void {
    this.#admission.message(by.lease, now);
    this.#watched(by, watched, () => this.#make(wanted, by.lease, watched, now));
  }

  /** Follows an earlier call in this object. Throws MatrxError `NOT_FOUND`. */
  watchEarlier(earlier: EarlierCall, by: LeasedCaller, watched: WatchedCall, now: number): void {
    this.#admission.message(by.lease, now);
    this.#watched(by, watched, () => this.#join(earlier, by.lease, watched, now));
  }

  #streamed({ lease, guest }: LeasedCaller, begin: (events: CallEvents) => CallId): OpenStream {
    const stream = this.#streams.open(lease.scope.id as GrantId);
    if (guest) this.#streams.visitedBy(guest.grant, stream);
    try {
      return { call: begin(new CallEvents(stream, this.#context.device)), body: stream.body };
    } catch (error) {
      stream.cut();
      throw error;
    }
  }

  #watched({ lease, guest }: LeasedCaller, watched: WatchedCall, begin: () => void): void {
    const grant = lease.scope.id as GrantId;
    this.#streams.join(grant, watched);
    if (guest) this.#streams.visitedBy(guest.grant, watched);
    watched.onOver = () => this.#streams.forget(watched, grant);
    try {
      begin();
    } catch (error) {
      watched.onOver();
      throw error;
    }
  }

  #make(wanted: WantedCall, lease: Lease, reader: CallReader, now: number): CallId {
    const { session, cancelOnDisconnect, waitMs, quiet, isNameless } = wanted;
    const waitsUntil = waitMs && now + waitMs;
    const wish = { session, cancelOnDisconnect, isNameless, live: !quiet, waitsUntil };
    const recipient = this.#recipient(lease, wish, reader);
    const call = this.#admission.admit(wanted, now, recipient);
    this.#lookBy(wish);
    return call;
  }

  #join({ call, waitMs }: EarlierCall, lease: Lease, reader: CallReader, now: number): CallId {
    const { ledger } = this.#context;
    const pending = this.#calls.pendingCalls.get(call);
    const row = pending ? undefined : ledger.find(call);
    requireMaker(pending?.grant ?? row?.grant_id, lease);
    const wish = { waitsUntil: waitMs && now + waitMs };
    const recipient = this.#recipient(lease, wish, reader);
    // An effect continues without this reader.
    recipient.accepted(call, pending?.deadline ?? row?.deadline ?? now, pending?.effect ?? "execute");
    // The answer may carry the id that a socket gave its call.
    if (pending) follow(pending, recipient);
    else if (row) this.#admission.join(row, recipient, now);
    this.#lookBy(wish);
    return call;
  }

  #recipient(lease: Lease, wish: Wish, reader: CallReader): FollowingRecipient {
    const grant = lease.scope.id as GrantId;
    const recipient: FollowingRecipient = new FollowingRecipient(reader, {
      ...wish,
      lease,
      device: this.#context.device,
      hasRoomFor: (bytes) => this.#streams.hasRoomFor(bytes, grant),
      left: (call, stops) => this.#calls.abandon(call, (one) => one === recipient, stops),
    });
    return recipient;
  }

  #lookBy({ waitsUntil }: Wish): void {
    if (waitsUntil !== undefined) this.#context.timer.by(waitsUntil);
  }
}

interface Wish extends Pick<WantedCall, "session" | "cancelOnDisconnect" | "isNameless"> {
  live?: boolean;
  /** In milliseconds since 1970; absent: the reader waits until the call ends. */
  waitsUntil?: number | undefined;
}

interface Following extends Wish {
  lease: Lease;
  device: DeviceId;
  hasRoomFor: (bytes: number) => boolean;
  /** The reader left. If it was the last and `stops` is set, the call stops. */
  left: (call: CallId, stops: boolean) => void;
}

class FollowingRecipient implements Recipient {
  readonly #reader: CallReader;
  readonly #following: Following;
  #waitsUntil: number | undefined;
  #follows = false;
  knowsName: boolean;

  constructor(reader: CallReader, following: Following) {
    this.#reader = reader;
    this.#following = following;
    this.#waitsUntil = following.waitsUntil;
    this.knowsName = !following.isNameless;
  }

  get lease(): Lease {
    return this.#following.lease;
  }

  get live(): boolean | undefined {
    return this.#following.live;
  }

  get waitsUntil(): number | undefined {
    return this.#waitsUntil;
  }

  waitLonger(ms: number): void {
    if (this.#waitsUntil !== undefined) this.#waitsUntil += ms;
  }

  accepted(call: CallId, deadline: number, effect: Effect): void {
    const { session, cancelOnDisconnect, left } = this.#following;
    this.#reader.onLeft = () => left(call, effect === "read" || cancelOnDisconnect === true);
    this.#reader.begin({ call, deadline, session });
  }

  parked(): void {}

  asked(approval: CallApproval, call: CallId): void {
    this.#reader.asked(call, approval);
  }

  follow(): void {
    this.#follows = true;
  }

  result(header: ResultHeader, body: Uint8Array): void {
    const { call } = header;
    const { device, hasRoomFor } = this.#following;
    if (!hasRoomFor(body.length)) return this.refuse(readsTooSlowly(call, device), call as CallId);
    this.#reader.result(header, this.#follows ? withId(body, undefined) : body);
  }

  output(body: Uint8Array): boolean {
    this.#reader.output(body);
    return true;
  }

  progress(progress: Progress): void {
    this.#reader.progress(progress);
  }

  refuse(error: ErrorShape, call: CallId): void {
    this.#reader.refuse(error, call);
  }

  sendAway(call: CallId, approval: CallApproval | undefined): void {
    this.knowsName = true;
    this.#reader.pending(call, approval);
  }
}
