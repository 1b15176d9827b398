/** One caller's socket: its session, grant, and the calls that it has not been answered. Survives sleep as an attachment. */
import { refusalAnswer } from "@matrx/shared/caller/answers.ts";
import type { ToCaller } from "@matrx/shared/caller-frames.ts";
import { CLOSE } from "@matrx/shared/close-codes.ts";
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import { type CallId, callTime, type DeviceId, type SessionId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import { textOf } from "@matrx/shared/utf8.ts";
import { type Recipient, withId } from "../calls/types.ts";
import { type KeptLease, keptLease, type Lease, leaseOf } from "../leases.ts";
import { type MessageBuffer, queuedBytes } from "../socket.ts";

/** What a call does when its caller goes: a read stops, an effect goes on, or stops because its caller asked for that. */
export type OnClose = "read" | "goes_on" | "stops";

/** An unanswered call as it is written down. */
export type Unanswered = [id: string, call: CallId, deadline: number, onClose: OnClose, follows: boolean];

export interface CallerAttachment {
  role: "caller";
  session: SessionId;
  device: DeviceId;
  account: string;
  lease: KeptLease;
  /** When the token ends, in milliseconds since 1970. */
  expires: number;
  /** Subprotocol `matrx.v1`. */
  v1: boolean;
  /** Subprotocol `matrx.v1.bin`: results come as binary frames. */
  binary: boolean;
  /** The place of the last event that it was given; null: it did not ask for events. */
  events: number | null;
  unanswered: Unanswered[];
}

interface Waiting {
  call: CallId;
  deadline: number;
  onClose: OnClose;
  /** The device answers under another's id. */
  follows: boolean;
  idBytes: number;
  /** It stands in the attachment. */
  saved: boolean;
}

/** Bytes sent between two looks at the queue. */
const LOOK_EVERY = 256 * 1024;

export class CallerSession {
  readonly ws: WebSocket;
  readonly id: SessionId;
  readonly account: string;
  lease: Lease;
  expires: number;
  readonly v1: boolean;
  /** Messages that wait while the lease is renewed. */
  held: MessageBuffer | undefined;
  readonly device: DeviceId;
  /** The place of the last event that this caller was given; null: it did not ask for events. */
  eventsUntil: number | null;
  readonly #binary: boolean;
  readonly #waiting = new Map<string, Waiting>();
  readonly #queuedOfGrant: (grant: string) => number;
  #idBytes = 0;
  /** Bytes queued here, and towards all sockets of the grant, when they were looked at last. */
  #queued = 0;
  #queuedTogether = 0;
  #sinceLook = 0;

  constructor(ws: WebSocket, attachment: CallerAttachment, queuedOfGrant: (grant: string) => number) {
    this.ws = ws;
    this.#queuedOfGrant = queuedOfGrant;
    this.id = attachment.session;
    this.account = attachment.account;
    this.lease = leaseOf(attachment.lease);
    this.expires = attachment.expires;
    this.v1 = attachment.v1;
    this.device = attachment.device;
    this.#binary = attachment.binary;
    this.eventsUntil = attachment.events;
    for (const [id, call, deadline, onClose, follows] of attachment.unanswered) {
      this.#wait(id, { call, deadline, onClose, follows, saved: true });
    }
  }

  unanswered(): Unanswered[] {
    return Array.from(this.#waiting, ([id, waiting]) => {
      const { call, deadline, onClose, follows } = waiting;
      return [id, call, deadline, onClose, follows];
    });
  }

  callOf(id: string): CallId | undefined {
    return this.#waiting.get(id)?.call;
  }

  /** Refuses an id that is unanswered already, and more calls than an attachment can hold. Throws MatrxError. */
  requireRoomFor(id: string): void {
    if (this.#waiting.has(id)) throw duplicateId(id);
    if (this.#waiting.size >= LIMITS.unansweredPerSession) throw tooManyUnanswered();
    if (this.#idBytes + keptBytes(id) > LIMITS.unansweredIdBytes) throw tooManyUnanswered();
  }

  /** Notes a call; it is answered once, through the recipient that this returns. */
  expect(id: string, call: CallId, deadline: number, onClose: OnClose): Recipient {
    this.#wait(id, { call, deadline, onClose, follows: false, saved: false });
    return this.recipientOf(id);
  }

  /** The device will answer this one under another's id. */
  follow(id: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting) waiting.follows = true;
  }

  /** Answers and live output for one id go this way. */
  recipientOf(id: string): Recipient {
    return new SocketRecipient(this, id);
  }

  /** The one answer to an id, as the device wrote it, after `missed` frames of live output were left out. */
  answer(id: string, body: Uint8Array, missed: number): void {
    const waiting = this.#settle(id);
    if (!waiting) return;
    if (waiting.follows) return this.#sendBody(withId(body, id));
    if (missed > 0) this.send({ id, type: "gap", frames: missed });
    this.#sendBody(body);
  }

  /** Live output. False: it is left out, the caller reads too slowly. */
  output(id: string, body: Uint8Array, missed: number): boolean {
    if (this.#waiting.get(id)?.follows) return true;
    this.#look(body.length);
    if (this.#queued > LIMITS.callerQueueBytes) return false;
    if (missed > 0) this.send({ id, type: "gap", frames: missed });
    this.#sendBody(body);
    return true;
  }

  /** The one answer to an id, when the relay gives it. */
  refuse(id: string, error: ErrorShape, call: CallId): void {
    if (this.#settle(id)) this.send(refusalAnswer(error, id, call, this.device));
  }

  send(frame: ToCaller): void {
    this.#send(JSON.stringify(frame));
  }

  /** Writes calls older than five seconds down, so that they are answered after a sleep too. */
  persist(now: number): void {
    for (const { call, saved } of this.#waiting.values()) {
      if (!saved && now - callTime(call) >= TIMES.settleAfter) return this.save();
    }
  }

  save(): void {
    const attachment: CallerAttachment = {
      role: "caller",
      session: this.id,
      device: this.device,
      account: this.account,
      lease: keptLease(this.lease),
      expires: this.expires,
      v1: this.v1,
      binary: this.#binary,
      events: this.eventsUntil,
      unanswered: this.unanswered(),
    };
    this.ws.serializeAttachment(attachment);
    for (const waiting of this.#waiting.values()) waiting.saved = true;
  }

  #wait(id: string, call: Omit<Waiting, "idBytes">): void {
    const idBytes = keptBytes(id);
    this.#idBytes += idBytes;
    this.#waiting.set(id, { ...call, idBytes });
  }

  /** Undefined: it was answered already. */
  #settle(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (!waiting) return undefined;
    this.#waiting.delete(id);
    this.#idBytes -= waiting.idBytes;
    if (waiting.saved) this.save();
    return waiting;
  }

  #sendBody(body: Uint8Array): void {
    this.#send(this.#binary ? body : textOf(body));
  }

  #send(data: string | Uint8Array): void {
    if (this.ws.readyState !== WebSocket.OPEN) return;
    this.#look(data.length);
    if (this.#queuedTogether > LIMITS.callerQueueMaxBytes) {
      this.ws.close(CLOSE.tooSlow, "You read too slowly");
      return;
    }
    this.#sinceLook += data.length;
    this.ws.send(data);
  }

  /** Looks at the queues once much was sent, or while much is queued: asking costs more than a small frame. */
  #look(toSend: number): void {
    if (this.#sinceLook + toSend <= LOOK_EVERY && this.#queued <= LIMITS.callerQueueBytes) return;
    this.#queued = queuedBytes(this.ws);
    this.#queuedTogether = this.#queuedOfGrant(this.lease.scope.id);
    this.#sinceLook = 0;
  }
}

/** Who gets the answer to one id of a socket. */
class SocketRecipient implements Recipient {
  readonly socket: WebSocket;
  readonly #session: CallerSession;
  readonly #id: string;

  constructor(session: CallerSession, id: string) {
    this.socket = session.ws;
    this.#session = session;
    this.#id = id;
  }

  follow(): void {
    this.#session.follow(this.#id);
  }

  result(_header: ResultHeader, body: Uint8Array, missed: number): void {
    this.#session.answer(this.#id, body, missed);
  }

  output(body: Uint8Array, missed: number): boolean {
    return this.#session.output(this.#id, body, missed);
  }

  refuse(error: ErrorShape, call: CallId): void {
    this.#session.refuse(this.#id, error, call);
  }

  /** A socket waits for as long as it is open. */
  sendAway(): void {}
}

/** Bytes of an id in an attachment: two for each character, unless all are printable Latin-1, as most are. */
function keptBytes(id: string): number {
  return /^[ -ÿ]*$/.test(id) ? id.length : 2 * id.length;
}

function duplicateId(id: string): MatrxError {
  return new MatrxError({
    code: "CONFLICT",
    message: `A call with the id "${id}" has not been answered yet`,
    hint: "Give each call its own id",
    hop: "relay",
    details: { id },
  });
}

function tooManyUnanswered(): MatrxError {
  return new MatrxError({
    code: "RATE_LIMITED",
    message: `This session already has ${LIMITS.unansweredPerSession} unanswered calls`,
    hint: "Wait for answers, or open another session",
    hop: "relay",
    details: { limit: LIMITS.unansweredPerSession },
  });
}
