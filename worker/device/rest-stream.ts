/** REST calls told as server-sent events: `call`, then `output` and `gap`, and at the end `result` or `error`. */
import { type ErrorShape, problemOf } from "@matrx/shared/errors.ts";
import type { CallId, DeviceId, GrantId, SessionId } from "@matrx/shared/ids.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import type { Admission } from "./admission.ts";
import type { Calls } from "./calls.ts";
import type { EventStream, EventStreams } from "./event-stream.ts";
import { follow } from "./flights.ts";
import type { Lease } from "./leases.ts";
import type { Ledger } from "./ledger.ts";
import { answerProblem, type Recipient, withId } from "./recipient.ts";
import { noSuchCall, type RestCall } from "./rest.ts";

/** A call as the Worker passes it on. */
export interface StreamedCall extends RestCall {
  /** Also stop a call with an effect when the reader goes. */
  cancelOnDisconnect?: boolean | undefined;
}

export interface OpenStream {
  call: CallId;
  body: ReadableStream<Uint8Array>;
}

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
    return this.#open(lease, (stream) =>
      admission.admit({ ...wanted, lease, stream: true }, now, (call, deadline, effect) => {
        const stop = effect === "read" || cancelOnDisconnect === true;
        return this.#recipient(stream, { call, deadline, session: wanted.session }, stop);
      }),
    );
  }

  /** Tells what becomes of a call that was made before. Throws MatrxError `NOT_FOUND`. */
  attach(lease: Lease, call: CallId, now: number): OpenStream {
    const { admission, calls, ledger } = this.#parts;
    admission.message(lease, now);
    const flight = calls.flights.get(call);
    const row = flight ? undefined : ledger.find(call);
    const grant = flight?.grant ?? row?.grant_id;
    if (!grant || (grant !== lease.scope.id && !lease.scope.owner)) throw noSuchCall();
    return this.#open(lease, (stream) => {
      const deadline = flight?.deadline ?? row?.deadline ?? now;
      const recipient = this.#recipient(stream, { call, deadline }, flight?.effect === "read");
      // The answer bears the id that a socket gave its call; one over REST has none.
      if (flight?.id !== undefined) follow(flight, recipient);
      else if (flight) flight.recipients.push(recipient);
      else if (row) admission.join(row, recipient, now);
      return call;
    });
  }

  #open({ scope }: Lease, begin: (stream: EventStream) => CallId): OpenStream {
    const stream = this.#parts.streams.open(scope.id as GrantId);
    try {
      return { call: begin(stream), body: stream.body };
    } catch (error) {
      stream.cut();
      throw error;
    }
  }

  #recipient(stream: EventStream, { call, deadline, session }: Begun, stop: boolean): Recipient {
    const device = this.#parts.device();
    const recipient = new StreamRecipient(stream, device);
    const until = new Date(deadline).toISOString();
    stream.onLeft = () => this.#parts.calls.abandon(call, (one) => one === recipient, stop);
    stream.send(`call\nid: ${call}`, json({ call, device, ...(session && { session }), deadline: until }));
    return recipient;
  }
}

interface Begun {
  call: CallId;
  deadline: number;
  session?: SessionId | undefined;
}

/** A reader of events who waits for a call. */
class StreamRecipient implements Recipient {
  readonly #stream: EventStream;
  readonly #device: DeviceId;
  #follows = false;
  /** Pieces of live output that were left out since the last one; the flight counts for its own caller only. */
  #missed = 0;

  constructor(stream: EventStream, device: DeviceId) {
    this.#stream = stream;
    this.#device = device;
  }

  follow(): void {
    this.#follows = true;
  }

  result({ status, code, call }: ResultHeader, body: Uint8Array): void {
    if (!this.#stream.hasRoomFor(body.length)) return this.#refuseAnswer(call);
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
    this.#stream.end("error", json({ ...problemOf(error), call, device: this.#device }));
  }

  /** A stream waits until the call is over. */
  sendAway(): void {}

  #refuseAnswer(call: string): void {
    const url = `/v1/devices/${this.#device}/calls/${call}`;
    const error: ErrorShape = {
      code: "OUTCOME_UNKNOWN",
      message: "The call has ended, but too much waits for you already: you read too slowly",
      hint: `Read what waits. Of a call with an effect, the outcome is at GET ${url}; a read can be called again`,
      hop: "relay",
      details: { url },
    };
    this.refuse(error, call as CallId);
  }

  #sayGap(): void {
    if (this.#missed > 0) this.#stream.send("gap", json({ type: "gap", frames: this.#missed }));
    this.#missed = 0;
  }
}

function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
