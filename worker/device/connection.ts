/** The device's own socket: which one is current, when it last gave a sign of life, and sending on it. */
import type { DeviceState, Proof } from "@matrx/shared/api.ts";
import { CLOSE } from "@matrx/shared/close-codes.ts";
import type { ToDevice } from "@matrx/shared/device-frames.ts";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { Paused } from "@matrx/shared/paused.ts";
import { queuedBytes, sendAndFree } from "../socket.ts";
import { QueueGauge } from "./queue-gauge.ts";
import type { RateState } from "./rates.ts";

/** What survives hibernation of a device's socket. */
export interface DeviceAttachment {
  role: "device";
  /** The nonce that the device signs, new for each connection. */
  nonce: string;
  /** The host that the device dialled. */
  host: string;
  /** A credential sent as a header, before `device_register` or instead of the one in it. */
  token?: string;
  /** Whether that credential is the device's own: then it keeps its place until it registers. */
  vouched: boolean;
  /** The address prefix that it came from. */
  source: string;
  registered: boolean;
  /** Incremented on each registration; only the newest counts. */
  epoch: number;
  /** Whether it is our agent: text `ping`, binary results, calls with all our additions. */
  ours: boolean;
  /** The version of the device link that it speaks; 0: only the device document. */
  protocol: number;
  /** Milliseconds since 1970. */
  lastAt: number;
  proof: Proof | null;
  /** Whom the device's user closed it to. Absent: to nobody, or not known. */
  paused?: Paused;
  /** It keeps the heads of the account's record. */
  keepsHeads?: true;
  /** It was asked for its tools and rules, which have changed, and has yet to tell them. */
  manifestDue?: true;
  /** A second connection of our agent, for streams. */
  bulk?: true;
  rates: [string, RateState][];
}

export interface DeviceSocket {
  readonly ws: WebSocket;
  readonly attachment: DeviceAttachment;
}

/** What is known of a device once it has registered. */
type Registered = Pick<DeviceAttachment, "ours" | "protocol" | "rates">;

type AutoResponseTime = (ws: WebSocket) => Date | null;

export class DeviceLink {
  readonly #autoResponseTime: AutoResponseTime;
  #current: DeviceSocket | undefined;
  /** Our agent's second connection, for streams, while it has one. */
  #bulk: DeviceSocket | undefined;
  readonly #gauge = new QueueGauge();
  readonly #bulkGauge = new QueueGauge();

  constructor(autoResponseTime: AutoResponseTime) {
    this.#autoResponseTime = autoResponseTime;
  }

  /** The registered socket, if there is one. */
  get current(): DeviceSocket | undefined {
    return this.#current;
  }

  isCurrent(ws: WebSocket): boolean {
    return this.#current?.ws === ws;
  }

  /** After hibernation, the newest registered socket becomes the current one. */
  restore(sockets: readonly DeviceSocket[]): void {
    for (const socket of sockets) {
      if (!socket.attachment.registered || socket.ws.readyState !== WebSocket.OPEN) continue;
      if (socket.attachment.bulk) this.#bulk = socket;
      else if (socket.attachment.epoch > (this.#current?.attachment.epoch ?? 0)) this.#current = socket;
    }
  }

  /** Makes a socket that has proved itself the current one, and closes an older one. */
  take(socket: DeviceSocket, { ours, protocol, rates }: Registered, now: number): void {
    const older = this.#current;
    const { attachment } = socket;
    attachment.registered = true;
    attachment.ours = ours;
    attachment.protocol = protocol;
    attachment.epoch = (older?.attachment.epoch ?? 0) + 1;
    attachment.lastAt = now;
    attachment.rates = rates;
    delete attachment.token;
    socket.ws.serializeAttachment(attachment);
    this.#current = socket;
    for (const former of [older, this.#bulk])
      if (former && former.ws !== socket.ws)
        former.ws.close(CLOSE.replaced, "A newer connection of this device took over");
    this.#bulk = undefined;
  }

  /** Takes our agent's second connection, for streams; an older one is closed. Throws MatrxError without a first. */
  takeBulk(socket: DeviceSocket, now: number): void {
    if (!this.#current?.attachment.ours) throw offlineError("The device is not registered");
    this.#bulk?.ws.close(CLOSE.replaced, "A newer connection of this device took over");
    const { attachment } = socket;
    Object.assign(attachment, { registered: true, ours: true, bulk: true, lastAt: now });
    delete attachment.token;
    socket.ws.serializeAttachment(attachment);
    this.#bulk = socket;
  }

  /** Drops the second connection. Returns true if this was it. */
  dropBulk(ws: WebSocket): boolean {
    if (this.#bulk?.ws !== ws) return false;
    this.#bulk = undefined;
    return true;
  }

  isBulk(ws: WebSocket): boolean {
    return this.#bulk?.ws === ws;
  }

  /** Sends a frame of a stream, on the second connection if it belongs there and there is one. */
  sendStream(frame: Uint8Array<ArrayBuffer>, bulk: boolean): void {
    const { socket, gauge } = this.#streamSocket(bulk);
    if (!socket) return;
    gauge.sent(frame.length);
    sendAndFree(socket.ws, frame);
  }

  /** Bytes queued where `sendStream` would send. */
  queuedForStream(bulk: boolean): number {
    const { socket } = this.#streamSocket(bulk);
    return socket ? queuedBytes(socket.ws) : 0;
  }

  /** Whether the device has stopped to read there. */
  isStreamFull(bulk: boolean): boolean {
    const { socket, gauge } = this.#streamSocket(bulk);
    return socket !== undefined && gauge.isAbove(LIMITS.deviceQueueMaxBytes, socket.ws);
  }

  #streamSocket(bulk: boolean): { socket: DeviceSocket | undefined; gauge: QueueGauge } {
    return bulk && this.#bulk
      ? { socket: this.#bulk, gauge: this.#bulkGauge }
      : { socket: this.#current, gauge: this.#gauge };
  }

  /** Keeps rates in the attachment of the current socket. Returns false if there is none. */
  attach(rates: DeviceAttachment["rates"]): boolean {
    const socket = this.#current;
    if (!socket || socket.ws.readyState !== WebSocket.OPEN) return false;
    socket.attachment.rates = rates;
    socket.ws.serializeAttachment(socket.attachment);
    return true;
  }

  /** Drops a socket. Returns true if it was the current one. */
  drop(ws: WebSocket): boolean {
    if (this.#current?.ws !== ws) return false;
    this.#current = undefined;
    return true;
  }

  /** Notes whom the device's user closed it to; survives hibernation. */
  notePaused({ ws, attachment }: DeviceSocket, paused: Paused | null): void {
    if (paused) attachment.paused = paused;
    else delete attachment.paused;
    ws.serializeAttachment(attachment);
  }

  /** When the device last gave a sign of life, in milliseconds since 1970. */
  lastSign(): number | undefined {
    return this.#current && this.signOf(this.#current);
  }

  signOf({ ws, attachment }: DeviceSocket): number {
    return Math.max(attachment.lastAt, this.#autoResponseTime(ws)?.getTime() ?? 0);
  }

  /** Device document, Backend Device States; `UNKNOWN` is left to the caller. Our agent's heartbeats are more frequent. */
  state(now: number): Exclude<DeviceState, "UNKNOWN"> {
    const lastSign = this.lastSign();
    if (lastSign === undefined || this.isSilent(now)) return "OFFLINE";
    const patience = this.#current?.attachment.ours ? TIMES.agentIdleAfter : TIMES.idleAfter;
    return now - lastSign >= patience ? "IDLE" : "ONLINE";
  }

  /** Whether our agent missed two and a half heartbeats, or a bare device is `OFFLINE` by the device document. */
  isSilent(now: number): boolean {
    if (!this.#current) return false;
    const { ours, lastAt } = this.#current.attachment;
    const patience = ours ? TIMES.silentAfter : TIMES.offlineAfter;
    return now - lastAt >= patience && now - (this.lastSign() ?? now) >= patience;
  }

  /** The socket for a call. Throws MatrxError `DEVICE_OFFLINE`, or `RATE_LIMITED` if its queue is full. */
  requireLive(now: number): DeviceSocket {
    const socket = this.#current;
    if (!socket || socket.ws.readyState !== WebSocket.OPEN) throw offlineError("The device is not connected");
    if (!socket.attachment.ours && this.isSilent(now)) {
      socket.ws.close(CLOSE.silent, "No sign of life");
      throw offlineError("The device is connected, but gave no sign of life for a while");
    }
    if (this.#isFull(socket)) throw congestedError();
    return socket;
  }

  /** Sends a frame. Throws if the socket is broken. */
  sendTo(socket: DeviceSocket, frame: string): void {
    this.#gauge.sent(frame.length);
    socket.ws.send(frame);
  }

  /** Sends a frame if the link is up; returns whether it is. */
  send(frame: ToDevice | string): boolean {
    const socket = this.#current;
    if (!socket || socket.ws.readyState !== WebSocket.OPEN) return false;
    this.sendTo(socket, typeof frame === "string" ? frame : JSON.stringify(frame));
    return true;
  }

  /** Replies to the device's own message. May be dropped, so that a device that sends without reading gets no answers. */
  reply(frame: ToDevice): void {
    if (this.#current && !this.#isFull(this.#current)) this.send(frame);
  }

  #isFull({ ws }: DeviceSocket): boolean {
    return this.#gauge.isAbove(LIMITS.deviceQueueMaxBytes, ws);
  }
}

export function offlineError(message: string): MatrxError {
  return relayError("DEVICE_OFFLINE", message, {
    hint: "Check that the machine is on and `matrx up` is running there; `matrx status` shows which step fails",
  });
}

export function congestedError(): MatrxError {
  return relayError("RATE_LIMITED", "The device reads too slowly: too much is queued for it", {
    hint: "Send less at once, or try again in a moment",
  });
}
