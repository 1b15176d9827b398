/** The caller protocol (guide, WebSocket Protocol) on one connection, for relay and local server, independent of transport. */
import { CLOSE } from "../close-codes.ts";
import type { Progress } from "../content.ts";
import type { Effect } from "../effects.ts";
import { type ErrorCode, type ErrorShape, type Hop, MatrxError } from "../errors.ts";
import { type CallId, type DeviceId, makeCallId, type SessionId } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { isStreamFrame } from "../streams/frame.ts";
import { SUBPROTOCOL } from "../tokens.ts";
import { errorAnswer } from "./error-answer.ts";
import { type Action, type Call, parseCallerFrame } from "./from-caller.ts";
import type { ToCaller } from "./to-caller.ts";

/** What a call does when its caller leaves: a read stops; an effect goes on, or stops if its caller asked for that. */
export type OnClose = "read" | "goes_on" | "stops";

/** A call that has not been answered; hosts extend it with what else they need. */
export interface UnansweredCall {
  readonly call: CallId;
  readonly onClose: OnClose;
}

/** The streams of a connection. Both throw MatrxError if a frame can't be read. */
export interface StreamPort {
  /** Passes on a frame. */
  frame(frame: Uint8Array<ArrayBuffer>): void;
  /** Ends the stream of a frame that may not be passed on. */
  refuseFrame(frame: Uint8Array<ArrayBuffer>, why: ErrorShape): void;
}

/** What the host of a connection does for it. */
export interface ConnectionPort<Unanswered extends UnansweredCall> {
  /** The hop that errors are attributed to. */
  readonly hop: Hop;
  readonly isOpen: boolean;
  /** When the caller's token expires, in milliseconds since 1970. */
  readonly expires: number;
  /** Bytes queued for this caller, ... */
  readonly queued: number;
  /** ... and for all connections of its grant. */
  readonly queuedTogether: number;
  /** Counts a message. Throws MatrxError `RATE_LIMITED`. */
  countMessage(now: number): void;
  /** Begins a call, and registers it with `expect`. If it throws MatrxError, nothing was begun. */
  start(id: string, call: Call, now: number): void;
  /** Asks a call to stop; it is still answered. */
  cancel(call: CallId): void;
  /** A call is no longer unanswered. */
  settled(unanswered: Unanswered): void;
  /** The caller left before the answer. */
  abandon(unanswered: Unanswered): void;
  /** Continues with a new token, and confirms it. Rejects with MatrxError. */
  renew(token: string): Promise<void>;
  /** Absent: this host has no streams. */
  readonly streams?: StreamPort;
  /** Sends events from now on, or from the one after `after`. Throws MatrxError. */
  subscribeToEvents(after: string | undefined, now: number): void;
  /** What the caller is told about a thrown value. */
  errorShape(error: unknown): ErrorShape;
  close(code: number, reason: string): void;
}

/** Sends a frame: text, or UTF-8 JSON as the device wrote it. `left` is called once it has been sent, or never will be. */
type SendFrame = (data: string | Uint8Array, left?: () => void) => void;

const AS_TEXT = 'Send JSON as text, such as {"id":"1","tool":"SystemInfo","input":{}}';
const RENEW = 'Send {"action":"auth","token":"<new token>"}, or connect again';
const NOT_V1 = "action: events are sent only on connections with the subprotocol matrx.v1";
const OFFER_V1 = `Offer ${SUBPROTOCOL.v1} when you connect`;

/** Bytes sent between two checks of the queue. */
const LOOK_EVERY = 256 * 1024;

/** A report of progress is at most about this long. */
const PROGRESS_BYTES = 4 * 1024;

export class CallerProtocol<Unanswered extends UnansweredCall> {
  readonly #port: ConnectionPort<Unanswered>;
  readonly #send: SendFrame;
  /** Subprotocol `matrx.v1`, or `matrx.v1.bin`. */
  readonly isV1: boolean;
  readonly #unanswered = new Map<string, Unanswered>();
  #idBytes = 0;
  /** Bytes queued here, and on all connections of the grant, when last checked. */
  #queued = 0;
  #queuedTogether = 0;
  #sinceLook = 0;

  constructor(port: ConnectionPort<Unanswered>, send: SendFrame, isV1: boolean) {
    this.#port = port;
    this.#send = send;
    this.isV1 = isV1;
  }

  /** Unanswered calls by the caller's ids. */
  get unanswered(): ReadonlyMap<string, Unanswered> {
    return this.#unanswered;
  }

  /** Greets a new connection. */
  greet(session: SessionId, device: string): void {
    if (this.isV1) this.send({ type: "hello", protocol: 1, session, device });
  }

  /** Handles one message from the caller. Never throws. */
  message(data: string | ArrayBuffer | Uint8Array, now: number): void {
    const port = this.#port;
    let id: string | undefined;
    try {
      if (typeof data !== "string") return this.#streamFrame(data, now);
      const message = parseCallerFrame(data, port.hop);
      if (message.kind === "action") return this.#act(message.action, now);
      id = message.call.id ?? makeCallId(now);
      port.countMessage(now);
      this.#requireUnexpired(now);
      this.#requireRoomFor(id);
      if (message.call.opens) this.#requireStreams();
      port.start(id, message.call, now);
    } catch (error) {
      this.#refuse(id, error);
    }
  }

  /** The connection closed. */
  closed(): void {
    for (const unanswered of this.#unanswered.values()) this.#port.abandon(unanswered);
  }

  /** Registers a call that was begun; it is answered once. */
  expect(id: string, unanswered: Unanswered): void {
    this.#idBytes += keptBytes(id);
    this.#unanswered.set(id, unanswered);
  }

  /** Sends the one answer to an id, after `missed` dropped frames of live output. */
  answer(id: string, body: Uint8Array, missed: number, left?: () => void): void {
    if (!this.#settle(id)) return left?.();
    if (missed > 0) this.send({ id, type: "gap", frames: missed });
    this.#write(body, left);
  }

  /** Sends the one answer to an id, if it comes from the host. */
  refuse(id: string, error: ErrorShape, call: CallId, device: DeviceId): void {
    if (this.#settle(id)) this.send(errorAnswer(error, { id, call, device }));
  }

  /** Sends live output, after `missed` dropped frames. Returns false if the caller reads too slowly and this one is dropped too. */
  output(id: string, body: Uint8Array, missed: number): boolean {
    this.#look(body.length);
    if (this.#queued > LIMITS.callerQueueBytes) return false;
    if (missed > 0) this.send({ id, type: "gap", frames: missed });
    this.#write(body);
    return true;
  }

  /** Says how far a call is, unless the caller reads too slowly. */
  progress(id: string, progress: Progress): void {
    if (!this.#unanswered.has(id)) return;
    this.#look(PROGRESS_BYTES);
    if (this.#queued <= LIMITS.callerQueueBytes) this.send({ id, type: "progress", ...progress });
  }

  send(frame: ToCaller): void {
    this.#write(JSON.stringify(frame));
  }

  #act(action: Action, now: number): void {
    this.#port.countMessage(now);
    if (action.action !== "auth") this.#requireUnexpired(now);
    switch (action.action) {
      case "ping":
        return this.send({ type: "pong" });
      case "cancel": {
        const unanswered = this.#unanswered.get(action.id);
        if (unanswered) this.#port.cancel(unanswered.call);
        return;
      }
      case "cancel_all":
        for (const { call } of this.#unanswered.values()) this.#port.cancel(call);
        return;
      case "auth":
        this.#port.renew(action.token).catch((error: unknown) => this.#refuse(undefined, error));
        return;
      case "events":
        if (!this.isV1) throw this.#error("INVALID_PARAMETERS", NOT_V1, OFFER_V1, { field: "action" });
        return this.#port.subscribeToEvents(action.after, now);
      default:
        action satisfies never;
    }
  }

  #streamFrame(data: ArrayBuffer | Uint8Array, now: number): void {
    const frame = new Uint8Array(data instanceof Uint8Array ? data.slice().buffer : data);
    const { streams, expires } = this.#port;
    if (!this.isV1 || !streams || !isStreamFrame(frame))
      throw this.#error("INVALID_MESSAGE", "Callers must send text frames", AS_TEXT);
    if (expires > now) streams.frame(frame);
    else streams.refuseFrame(frame, this.#expiredError().shape());
  }

  #requireStreams(): void {
    if (this.isV1 && this.#port.streams) return;
    const [message, hint] = this.#port.streams
      ? ["opens: streams need the subprotocol matrx.v1", OFFER_V1]
      : ["opens: this machine's own server has no streams", "Open it through the relay"];
    throw this.#error("INVALID_PARAMETERS", message, hint, { field: "opens" });
  }

  #requireUnexpired(now: number): void {
    if (this.#port.expires <= now) throw this.#expiredError();
  }

  #expiredError(): MatrxError {
    return this.#error("UNAUTHENTICATED", "This connection's token has expired", RENEW);
  }

  /** Refuses an id that is already in use, and more calls than a relay can store while it hibernates. Throws MatrxError. */
  #requireRoomFor(id: string): void {
    if (this.#unanswered.has(id)) {
      const message = `A call with the id "${id}" has not been answered yet`;
      throw this.#error("CONFLICT", message, "Give each call its own id", { id });
    }
    const { unansweredPerSession: limit, unansweredIdBytes } = LIMITS;
    if (this.#unanswered.size < limit && this.#idBytes + keptBytes(id) <= unansweredIdBytes) return;
    const message = `This session already has ${limit} unanswered calls`;
    throw this.#error("RATE_LIMITED", message, "Wait for answers, or open another session", { limit });
  }

  /** Returns false if it was already answered. */
  #settle(id: string): boolean {
    const unanswered = this.#unanswered.get(id);
    if (!unanswered) return false;
    this.#unanswered.delete(id);
    this.#idBytes -= keptBytes(id);
    this.#port.settled(unanswered);
    return true;
  }

  #error(code: ErrorCode, message: string, hint: string, details?: Record<string, unknown>): MatrxError {
    return new MatrxError({ code, message, hint, hop: this.#port.hop, details });
  }

  /** Answers with an error, which names the call if its id could be read. */
  #refuse(id: string | undefined, thrown: unknown): void {
    const error = this.#port.errorShape(thrown);
    const named = id ?? (typeof error.details?.id === "string" ? error.details.id : undefined);
    if (named !== undefined) return this.send(errorAnswer(error, { id: named }));
    const { message: output, details: metadata, code, hint, hop } = error;
    const facts = { ...(metadata && { metadata }), code, ...(hint && { hint }), hop };
    this.send({ id: null, type: "error", output, ...facts });
  }

  #write(data: string | Uint8Array, left?: () => void): void {
    if (!this.#port.isOpen) return left?.();
    this.#look(data.length);
    if (this.#queuedTogether > LIMITS.callerQueueMaxBytes) {
      this.#port.close(CLOSE.tooSlow, "You read too slowly");
      return left?.();
    }
    this.#sinceLook += data.length;
    this.#send(data, left);
  }

  /** Checks the queues only after much was sent, or while much is queued: checking costs more than a small frame. */
  #look(toSend: number): void {
    if (this.#sinceLook + toSend <= LOOK_EVERY && this.#queued <= LIMITS.callerQueueBytes) return;
    this.#queued = this.#port.queued;
    this.#queuedTogether = this.#port.queuedTogether;
    this.#sinceLook = 0;
  }
}

export function onCloseOf(
  effect: Effect,
  { cancel_on_disconnect }: Pick<Call, "cancel_on_disconnect">,
): OnClose {
  if (effect === "read") return "read";
  return cancel_on_disconnect ? "stops" : "goes_on";
}

/** Bytes of an id in an attachment: two for each character, unless all are printable Latin-1, as most are. */
function keptBytes(id: string): number {
  return /^[ -ÿ]*$/.test(id) ? id.length : 2 * id.length;
}
