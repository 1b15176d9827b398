/** REST calls told as server-sent events: `call`, then `output` and `gap`, and at the end `result` or `error`. */
import type { Effect } from "@matrx/shared/effects.ts";
import { type ErrorShape, problemOf } from "@matrx/shared/errors.ts";
import type { CallId, DeviceId, GrantId } from "@matrx/shared/ids.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import type { Admission } from "../calls/admission.ts";
import type { Calls } from "../calls/calls.ts";
import { follow } from "../calls/pending.ts";
import { answerProblem, type Recipient, readsTooSlowly, withId } from "../calls/types.ts";
import type { DeviceContext } from "../context.ts";
import type { Lease } from "../leases.ts";
import { type RestCall, requireMaker } from "./rest.ts";
import type { EventStream, EventStreams } from "./sse.ts";

/** A call as the Worker passes it on. */
export interface StreamedCall extends RestCall {
  /** Also stop a call with an effect when the reader goes. */
  cancelOnDisconnect?: boolean | undefined;
}

export interface OpenStream {
  call: CallId;
  body: ReadableStream<Uint8Array>;
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

  /** Sends a call and tells what becomes of it. Throws MatrxError; then nothing was sent. */
  call(lease: Lease, { cancelOnDisconnect, ...wanted }: StreamedCall, now: number): OpenStream {
    this.#admission.message(lease, now);
    const { session } = wanted;
    return this.#open(lease, { session, cancelOnDisconnect }, (recipient) =>
      this.#admission.admit({ ...wanted, lease, stream: true }, now, recipient),
    );
  }

  /** Tells what becomes of a call that was made before. Throws MatrxError `NOT_FOUND`. */
  attach(lease: Lease, call: CallId, now: number): OpenStream {
    const { ledger } = this.#context;
    this.#admission.message(lease, now);
    const pending = this.#calls.pendingCalls.get(call);
    const row = pending ? undefined : ledger.find(call);
    requireMaker(pending?.grant ?? row?.grant_id, lease);
    return this.#open(lease, {}, (recipient) => {
      // An effect goes on without this reader.
      recipient.accepted(call, pending?.deadline ?? row?.deadline ?? now, pending?.effect ?? "execute");
      // The answer may bear the id that a socket gave its call.
      if (pending) follow(pending, recipient);
      else if (row) this.#admission.join(row, recipient, now);
      return call;
    });
  }

  #open({ scope }: Lease, wish: Wish, begin: (recipient: StreamRecipient) => CallId): OpenStream {
    const streams = this.#streams;
    const grant = scope.id as GrantId;
    const stream = streams.open(grant);
    const recipient: StreamRecipient = new StreamRecipient(stream, {
      ...wish,
      device: this.#context.device,
      hasRoomFor: (bytes) => streams.hasRoomFor(bytes, grant),
      left: (call, stops) => this.#calls.abandon(call, (one) => one === recipient, stops),
    });
    try {
      return { call: begin(recipient), body: stream.body };
    } catch (error) {
      stream.cut();
      throw error;
    }
  }
}

type Wish = Pick<StreamedCall, "session" | "cancelOnDisconnect">;

interface Reading extends Wish {
  device: DeviceId;
  hasRoomFor: (bytes: number) => boolean;
  /** The reader went; the call stops if it was the last and `stops`. */
  left: (call: CallId, stops: boolean) => void;
}

/** A reader of events who waits for a call. */
class StreamRecipient implements Recipient {
  readonly #stream: EventStream;
  readonly #reading: Reading;
  #follows = false;
  /** Pieces of live output that were left out since the last one; the pending call counts for its own caller only. */
  #missed = 0;

  constructor(stream: EventStream, reading: Reading) {
    this.#stream = stream;
    this.#reading = reading;
  }

  accepted(call: CallId, deadline: number, effect: Effect): void {
    const { device, session, cancelOnDisconnect, left } = this.#reading;
    this.#stream.onLeft = () => left(call, effect === "read" || cancelOnDisconnect === true);
    const facts = { call, device, ...(session && { session }), deadline: new Date(deadline).toISOString() };
    this.#stream.send("call", json(facts), call);
  }

  follow(): void {
    this.#follows = true;
  }

  result({ status, code, call }: ResultHeader, body: Uint8Array): void {
    if (!this.#reading.hasRoomFor(body.length))
      return this.refuse(readsTooSlowly(call, this.#reading.device), call as CallId);
    this.#sayGap();
    if (status === "success")
      return this.#stream.end("result", this.#follows ? withId(body, undefined) : body);
    const { error, extra } = answerProblem(code, body);
    this.#stream.end("error", json({ ...problemOf(error), ...extra }));
  }

  output(body: Uint8Array): boolean {
    if (this.#stream.behind) this.#missed++;
    else {
      this.#sayGap();
      this.#stream.send("output", body);
    }
    return true;
  }

  refuse(error: ErrorShape, call: CallId): void {
    this.#sayGap();
    this.#stream.end("error", json({ ...problemOf(error), call, device: this.#reading.device }));
  }

  /** A stream waits until the call is over. */
  sendAway(): void {}

  #sayGap(): void {
    if (this.#missed > 0) this.#stream.send("gap", json({ type: "gap", frames: this.#missed }));
    this.#missed = 0;
  }
}

function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
