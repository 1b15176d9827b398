/** REST calls told as server-sent events: `call`, then `output` and `gap`, and at the end `result` or `error`. */
import { type BegunCall, CallEvents } from "@matrx/shared/caller/call-events.ts";
import type { EventStreams } from "@matrx/shared/caller/event-streams.ts";
import type { OpenStream, StreamedCall } from "@matrx/shared/caller/port.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { CallId, DeviceId, GrantId } from "@matrx/shared/ids.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import type { Admission } from "../calls/admission.ts";
import type { Calls } from "../calls/calls.ts";
import type { Ledger } from "../calls/ledger.ts";
import { follow } from "../calls/pending.ts";
import { type Recipient, readsTooSlowly, withId } from "../calls/types.ts";
import type { Lease } from "../leases.ts";
import { requireMaker } from "./rest.ts";

export interface RestStreamsParts {
  device: () => DeviceId;
  admission: Admission;
  calls: Calls;
  ledger: Ledger;
  streams: EventStreams;
}

export class RestStreams {
  readonly #parts: RestStreamsParts;

  constructor(parts: RestStreamsParts) {
    this.#parts = parts;
  }

  /** Sends a call and tells what becomes of it. Throws MatrxError; then nothing was sent. */
  call(lease: Lease, { cancelOnDisconnect, ...wanted }: StreamedCall, now: number): OpenStream {
    const { admission } = this.#parts;
    admission.message(lease, now);
    return this.#open(lease, (begun) =>
      admission.admit({ ...wanted, lease, stream: true }, now, (call, deadline, effect) => {
        const stops = effect === "read" || cancelOnDisconnect === true;
        return begun({ call, deadline, session: wanted.session, stops });
      }),
    );
  }

  /** Tells what becomes of a call that was made before. Throws MatrxError `NOT_FOUND`. */
  attach(lease: Lease, call: CallId, now: number): OpenStream {
    const { admission, calls, ledger } = this.#parts;
    admission.message(lease, now);
    const pending = calls.pendingCalls.get(call);
    const row = pending ? undefined : ledger.find(call);
    requireMaker(pending?.grant ?? row?.grant_id, lease);
    return this.#open(lease, (begun) => {
      const deadline = pending?.deadline ?? row?.deadline ?? now;
      const recipient = begun({ call, deadline, stops: pending?.effect === "read" });
      // The answer may bear the id that a socket gave its call.
      if (pending) follow(pending, recipient);
      else if (row) admission.join(row, recipient, now);
      return call;
    });
  }

  #open({ scope }: Lease, begin: (begun: (call: Begun) => Recipient) => CallId): OpenStream {
    const { streams, calls, device } = this.#parts;
    const grant = scope.id as GrantId;
    const stream = streams.open(grant);
    const events = new CallEvents(stream, device());
    const recipient = new StreamRecipient(events, device(), (bytes) => streams.hasRoomFor(bytes, grant));
    const begun = ({ stops, ...first }: Begun) => {
      stream.onLeft = () => calls.abandon(first.call, (one) => one === recipient, stops);
      events.begin(first);
      return recipient;
    };
    try {
      return { call: begin(begun), body: stream.body };
    } catch (error) {
      stream.cut();
      throw error;
    }
  }
}

interface Begun extends BegunCall {
  /** When its last reader goes, the call is stopped. */
  stops: boolean;
}

/** A reader of events who waits for a call. */
class StreamRecipient implements Recipient {
  readonly #events: CallEvents;
  readonly #device: DeviceId;
  readonly #hasRoomFor: (bytes: number) => boolean;
  #follows = false;

  constructor(events: CallEvents, device: DeviceId, hasRoomFor: (bytes: number) => boolean) {
    this.#events = events;
    this.#device = device;
    this.#hasRoomFor = hasRoomFor;
  }

  follow(): void {
    this.#follows = true;
  }

  result(header: ResultHeader, body: Uint8Array): void {
    const { call } = header;
    if (!this.#hasRoomFor(body.length))
      return this.refuse(readsTooSlowly(call, this.#device), call as CallId);
    this.#events.result(header, this.#follows ? withId(body, undefined) : body);
  }

  output(body: Uint8Array): boolean {
    this.#events.output(body);
    return true;
  }

  refuse(error: ErrorShape, call: CallId): void {
    this.#events.refuse(error, call);
  }

  /** A stream waits until the call is over. */
  sendAway(): void {}
}
