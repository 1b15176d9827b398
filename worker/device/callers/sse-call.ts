/** REST calls streamed as server-sent events: `call`, then `output` and `gap`, and finally `result`, `error` or `pending`. */
import type { CallApproval } from "@matrx/shared/approval.ts";
import { CallEvents } from "@matrx/shared/caller/call-events.ts";
import type { EventStream, EventStreams } from "@matrx/shared/caller/event-streams.ts";
import type { OpenStream, StreamedCall } from "@matrx/shared/caller/port.ts";
import type { Progress } from "@matrx/shared/content.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { CallId, DeviceId, GrantId } from "@matrx/shared/ids.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import type { GuestSession } from "../../auth/caller.ts";
import type { Admission } from "../calls/admission.ts";
import type { Calls } from "../calls/calls.ts";
import { follow } from "../calls/pending.ts";
import { type Recipient, readsTooSlowly, withId } from "../calls/types.ts";
import type { DeviceContext } from "../context.ts";
import type { Lease } from "../leases.ts";
import { requireMaker } from "./rest.ts";

/** Who reads a stream: under which lease, and a guest by which session of its own. */
interface Reader {
  lease: Lease;
  guest: GuestSession | undefined;
}

export class RestStreams {
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

  /** Sends a call and streams its progress. If it throws MatrxError, nothing was sent. */
  call(
    reader: Reader,
    { cancelOnDisconnect, waitMs, quiet, isNameless, ...wanted }: StreamedCall,
    now: number,
  ): OpenStream {
    const { lease } = reader;
    this.#admission.message(lease, now);
    const wish = {
      ...{ session: wanted.session, cancelOnDisconnect, isNameless },
      waitsUntil: waitMs && now + waitMs,
    };
    return this.#open(reader, wish, (recipient) =>
      this.#admission.admit({ ...wanted, lease, stream: !quiet }, now, recipient),
    );
  }

  /** Streams the progress of an earlier call, for a while or to its end. Throws MatrxError `NOT_FOUND`. */
  attach(reader: Reader, { call, waitMs }: EarlierCall, now: number): OpenStream {
    const { lease } = reader;
    const { ledger } = this.#context;
    this.#admission.message(lease, now);
    const pending = this.#calls.pendingCalls.get(call);
    const row = pending ? undefined : ledger.find(call);
    requireMaker(pending?.grant ?? row?.grant_id, lease);
    return this.#open(reader, { waitsUntil: waitMs && now + waitMs }, (recipient) => {
      // An effect continues without this reader.
      recipient.accepted(call, pending?.deadline ?? row?.deadline ?? now, pending?.effect ?? "execute");
      // The answer may carry the id that a socket gave its call.
      if (pending) follow(pending, recipient);
      else if (row) this.#admission.join(row, recipient, now);
      return call;
    });
  }

  #open({ lease, guest }: Reader, wish: Wish, begin: (recipient: StreamRecipient) => CallId): OpenStream {
    const streams = this.#streams;
    const grant = lease.scope.id as GrantId;
    const stream = streams.open(grant);
    if (guest) streams.visitedBy(guest.grant, stream);
    const recipient: StreamRecipient = new StreamRecipient(stream, {
      ...wish,
      device: this.#context.device,
      hasRoomFor: (bytes) => streams.hasRoomFor(bytes, grant),
      left: (call, stops) => this.#calls.abandon(call, (one) => one === recipient, stops),
    });
    try {
      const call = begin(recipient);
      if (wish.waitsUntil !== undefined) this.#context.timer.by(wish.waitsUntil);
      return { call, body: stream.body };
    } catch (error) {
      stream.cut();
      throw error;
    }
  }
}

interface EarlierCall {
  call: CallId;
  waitMs: number | undefined;
}

interface Wish extends Pick<StreamedCall, "session" | "cancelOnDisconnect" | "isNameless"> {
  /** In milliseconds since 1970; absent: the stream waits until the call ends. */
  waitsUntil?: number | undefined;
}

interface Reading extends Wish {
  device: DeviceId;
  hasRoomFor: (bytes: number) => boolean;
  /** The reader left. If it was the last and `stops` is set, the call stops. */
  left: (call: CallId, stops: boolean) => void;
}

/** A recipient that reads a call's events. */
class StreamRecipient implements Recipient {
  readonly #stream: EventStream;
  readonly #events: CallEvents;
  readonly #reading: Reading;
  #waitsUntil: number | undefined;
  #follows = false;
  knowsName: boolean;

  constructor(stream: EventStream, reading: Reading) {
    this.#stream = stream;
    this.#events = new CallEvents(stream, reading.device);
    this.#reading = reading;
    this.#waitsUntil = reading.waitsUntil;
    this.knowsName = !reading.isNameless;
  }

  get waitsUntil(): number | undefined {
    return this.#waitsUntil;
  }

  waitLonger(ms: number): void {
    if (this.#waitsUntil !== undefined) this.#waitsUntil += ms;
  }

  accepted(call: CallId, deadline: number, effect: Effect): void {
    const { session, cancelOnDisconnect, left } = this.#reading;
    this.#stream.onLeft = () => left(call, effect === "read" || cancelOnDisconnect === true);
    this.#events.begin({ call, deadline, session });
  }

  parked(): void {}

  asked(approval: CallApproval, call: CallId): void {
    this.#events.asked(call, approval);
  }

  follow(): void {
    this.#follows = true;
  }

  result(header: ResultHeader, body: Uint8Array): void {
    const { call } = header;
    const { device, hasRoomFor } = this.#reading;
    if (!hasRoomFor(body.length)) return this.refuse(readsTooSlowly(call, device), call as CallId);
    this.#events.result(header, this.#follows ? withId(body, undefined) : body);
  }

  output(body: Uint8Array): boolean {
    this.#events.output(body);
    return true;
  }

  progress(progress: Progress): void {
    this.#events.progress(progress);
  }

  refuse(error: ErrorShape, call: CallId): void {
    this.#events.refuse(error, call);
  }

  sendAway(call: CallId, approval: CallApproval | undefined): void {
    this.knowsName = true;
    this.#events.pending(call, approval);
  }
}
