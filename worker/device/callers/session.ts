/** One caller's socket at the relay: its lease and its unanswered calls. Survives hibernation as an attachment. */
import type { CallApproval } from "@matrx/shared/approval.ts";
import type { Call } from "@matrx/shared/caller/from-caller.ts";
import type { WantedCall } from "@matrx/shared/caller/port.ts";
import {
  CallerProtocol,
  type ConnectionPort,
  type OnClose,
  onCloseOf,
  type UnansweredCall,
} from "@matrx/shared/caller/protocol.ts";
import type { Progress } from "@matrx/shared/content.ts";
import type { ExecuteOpens } from "@matrx/shared/device-frames.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import { type CallId, callTime, type DeviceId, makeCallId, type SessionId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import { textOf } from "@matrx/shared/utf8.ts";
import type { GuestSession } from "../../auth/caller.ts";
import { errorShapeOf } from "../../problem.ts";
import { type MessageBuffer, queuedBytes } from "../../socket.ts";
import { withId } from "../calls/caller-answers.ts";
import type { Calls } from "../calls/calls.ts";
import { type KeptLease, keptLease, type Lease, leaseOf } from "../leases.ts";
import type { Recipient } from "../ledger/recipient.ts";
import type { Streams } from "../streams/streams.ts";
import type { Admission } from "./admission.ts";
import { type KeptStreams, SocketStreams } from "./socket-streams.ts";

/** An unanswered call as stored in the attachment. */
type KeptCall = [id: string, call: CallId, deadline: number, onClose: OnClose, follows: boolean];

export interface CallerAttachment {
  role: "caller";
  session: SessionId;
  device: DeviceId;
  account: string;
  lease: KeptLease;
  /** When the token expires, in milliseconds since 1970. */
  expires: number;
  /** Set if the caller is a guest: its own session, which may end before the share. */
  guest?: GuestSession;
  /** Subprotocol `matrx.v1`. */
  v1: boolean;
  /** Subprotocol `matrx.v1.bin`: results come as binary frames. */
  binary: boolean;
  /** The sequence number of the last event sent; null if the caller did not ask for events. */
  events: number | null;
  unanswered: KeptCall[];
  /** Absent without open streams. */
  streams?: KeptStreams | undefined;
}

/** What all sessions share. */
export interface SessionHost {
  readonly streams: Streams;
  readonly admission: Admission;
  readonly calls: Calls;
  /** Bytes queued on all sockets of a grant. */
  queuedOf(grant: string): number;
  renew(session: CallerSession, token: string): Promise<void>;
  subscribeToEvents(session: CallerSession, after: string | undefined, now: number): void;
  /** A call began that needs a check later. */
  callStarted(now: number): void;
}

/** A restored call is streamed if the device streams it: it was told whether to. */
const RESTORED = { stream: true } as const;

export class CallerSession implements ConnectionPort<SocketRecipient> {
  readonly hop = "relay";
  readonly protocol: CallerProtocol<SocketRecipient>;
  readonly streams: SocketStreams;
  readonly ws: WebSocket;
  readonly id: SessionId;
  readonly account: string;
  lease: Lease;
  expires: number;
  readonly guest: GuestSession | undefined;
  /** Messages that wait while the lease is renewed. */
  waiting: MessageBuffer | undefined;
  readonly device: DeviceId;
  /** The sequence number of the last event sent to this caller; null if it did not ask for events. */
  eventsUntil: number | null;
  readonly #binary: boolean;
  readonly #host: SessionHost;

  constructor(ws: WebSocket, attachment: CallerAttachment, host: SessionHost) {
    this.ws = ws;
    this.#host = host;
    this.id = attachment.session;
    this.account = attachment.account;
    this.lease = leaseOf(attachment.lease);
    this.expires = attachment.expires;
    this.guest = attachment.guest;
    this.device = attachment.device;
    this.#binary = attachment.binary;
    this.eventsUntil = attachment.events;
    this.protocol = new CallerProtocol(this, (data) => this.#send(data), attachment.v1);
    for (const [id, call, deadline, onClose, follows] of attachment.unanswered) {
      const recipient = new SocketRecipient(this, id, RESTORED);
      this.protocol.expect(id, Object.assign(recipient, { call, deadline, onClose, follows, isSaved: true }));
    }
    this.streams = new SocketStreams(this, host.streams, attachment.streams);
  }

  get isOpen(): boolean {
    return this.ws.readyState === WebSocket.OPEN;
  }

  get queued(): number {
    return queuedBytes(this.ws);
  }

  get queuedTogether(): number {
    return this.#host.queuedOf(this.lease.scope.id);
  }

  countMessage(now: number): void {
    this.#host.admission.message(this.lease, now);
  }

  start(id: string, call: Call, now: number): void {
    const { opens } = call;
    const wanted: WantedCall = {
      // Without an id from the caller, the call's name is its id.
      call: call.id === undefined ? (id as CallId) : makeCallId(now),
      tool: call.tool,
      input: JSON.stringify(call.input),
      session: this.id,
      timeoutMs: call.timeout_ms,
      key: call.idempotency_key,
    };
    const opened = opens && this.streams.open(opens, call.tool);
    try {
      this.#host.admission.admit(wanted, now, new SocketRecipient(this, id, call, opened));
    } catch (error) {
      if (opens) this.streams.notOpened(opens);
      throw error;
    }
    this.#host.callStarted(now);
  }

  /** The socket closed. */
  closed(): void {
    this.protocol.closed();
    this.streams.closed();
  }

  /** Registers an admitted call; its id is answered once. */
  expect(recipient: SocketRecipient, effect: Effect): void {
    const { id, call } = recipient;
    if (this.protocol.isV1 && effect !== "read") this.protocol.send({ id, type: "accepted", call });
    this.protocol.expect(id, recipient);
  }

  /** Tells the caller what its call waits for. */
  asked({ id, call }: SocketRecipient, approval: CallApproval): void {
    if (!this.protocol.isV1) return;
    const { id: named, state, expires, summary, edited } = approval;
    if (state === "pending" || state === "allowed")
      this.protocol.send({ id, type: "approval", call, approval: named, state, expires, summary, edited });
  }

  cancel(call: CallId): void {
    this.#host.calls.cancel(call);
  }

  /** Reads stop; effects continue unless their caller asked otherwise. */
  abandon({ call, onClose }: SocketRecipient): void {
    this.#host.calls.abandon(call, ({ socket }) => socket === this.ws, onClose !== "goes_on");
  }

  settled({ isSaved }: SocketRecipient): void {
    if (isSaved) this.save();
  }

  renew(token: string): Promise<void> {
    return this.#host.renew(this, token);
  }

  subscribeToEvents(after: string | undefined, now: number): void {
    this.#host.subscribeToEvents(this, after, now);
  }

  /** The grant no longer allows to read events: the caller is told, and gets no more. */
  endEvents({ message: output, code, hint, hop }: ErrorShape): void {
    this.eventsUntil = null;
    this.protocol.send({ id: null, type: "error", output, code, ...(hint && { hint }), hop });
  }

  errorShape(error: unknown): ErrorShape {
    return errorShapeOf(error);
  }

  close(code: number, reason: string): void {
    this.ws.close(code, reason);
  }

  /** Stores calls older than five seconds, so that they are answered even after hibernation. */
  persist(now: number): void {
    for (const { call, isSaved } of this.protocol.unanswered.values()) {
      if (!isSaved && now - callTime(call) >= TIMES.settleAfter) return this.save();
    }
  }

  save(): void {
    const unanswered: KeptCall[] = [];
    for (const [id, recipient] of this.protocol.unanswered) {
      recipient.isSaved = true;
      unanswered.push([id, recipient.call, recipient.deadline, recipient.onClose, recipient.follows]);
    }
    const attachment: CallerAttachment = {
      role: "caller",
      session: this.id,
      device: this.device,
      account: this.account,
      lease: keptLease(this.lease),
      expires: this.expires,
      ...(this.guest && { guest: this.guest }),
      v1: this.protocol.isV1,
      binary: this.#binary,
      events: this.eventsUntil,
      unanswered,
      streams: this.streams.kept,
    };
    this.ws.serializeAttachment(attachment);
  }

  #send(data: string | Uint8Array): void {
    this.ws.send(typeof data === "string" || this.#binary ? data : textOf(data));
  }
}

type Wish = Pick<Call, "cancel_on_disconnect" | "stream" | "opens">;

/** The recipient of the answer to one id on a socket. */
export class SocketRecipient implements Recipient, UnansweredCall {
  readonly id: string;
  /** Set once the call is admitted, like `deadline` and `onClose`. */
  call = "" as CallId;
  deadline = 0;
  onClose: OnClose = "read";
  /** The device will answer under another caller's id. */
  follows = false;
  /** Whether the attachment has it. */
  isSaved = false;
  readonly opens: ExecuteOpens | undefined;
  readonly #session: CallerSession;
  readonly #wish: Wish;

  constructor(session: CallerSession, id: string, wish: Wish, opened?: ExecuteOpens) {
    this.#session = session;
    this.id = id;
    this.opens = opened;
    // Not the whole call: its input may have megabytes.
    const { cancel_on_disconnect, stream, opens } = wish;
    this.#wish = { cancel_on_disconnect, stream, opens };
  }

  get socket(): WebSocket {
    return this.#session.ws;
  }

  get lease(): Lease {
    return this.#session.lease;
  }

  get live(): boolean | undefined {
    return this.#wish.stream;
  }

  accepted(call: CallId, deadline: number, effect: Effect): void {
    this.call = call;
    this.deadline = deadline;
    this.onClose = onCloseOf(effect, this.#wish);
    this.#session.expect(this, effect);
  }

  /** `accepted` tells it. */
  get knowsName(): boolean {
    return this.#session.protocol.isV1;
  }

  parked(): void {
    this.#session.save();
  }

  asked(approval: CallApproval): void {
    this.#session.asked(this, approval);
  }

  follow(): void {
    this.follows = true;
    if (this.#wish.opens) this.#session.streams.answeredBefore(this.#wish.opens);
  }

  result(_header: ResultHeader, body: Uint8Array, missed: number): void {
    const { protocol } = this.#session;
    if (this.follows) protocol.answer(this.id, withId(body, this.id), 0);
    else protocol.answer(this.id, body, missed);
  }

  output(body: Uint8Array, missed: number): boolean {
    return this.follows || this.#session.protocol.output(this.id, body, missed);
  }

  progress(progress: Progress): void {
    if (this.live) this.#session.protocol.progress(this.id, progress);
  }

  refuse(error: ErrorShape, call: CallId): void {
    if (this.#wish.opens) this.#session.streams.notOpened(this.#wish.opens);
    this.#session.protocol.refuse(this.id, error, call, this.#session.device);
  }

  /** A socket waits as long as it is open. */
  sendAway(): void {}
}
