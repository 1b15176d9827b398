/** The device's own socket: which one counts, when it last gave a sign of life, and sending on it. */

import type { DeviceState, Proof } from "@matrx/shared/api.ts";
import { CLOSE } from "@matrx/shared/close-codes.ts";
import type { ToDevice } from "@matrx/shared/device-frames.ts";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { DEVICE_QUEUE_MAX_BYTES, TIMES } from "@matrx/shared/limits.ts";
import type { RateState } from "./rates.ts";
import { queuedBytes } from "./socket.ts";

/** All that survives sleep of a device's socket. */
export interface DeviceAttachment {
  role: "device";
  /** What the device signs; a new one for each connection. */
  nonce: string;
  /** The host that the device dialled. */
  host: string;
  /** A credential that came as header, before `device_register` or instead of one there. */
  token?: string;
  /** That credential is the device's own: the place until registration is kept for it. */
  vouched: boolean;
  /** Address prefix. */
  source: string;
  registered: boolean;
  /** Grows with each registration; only the newest counts. */
  epoch: number;
  /** Our agent: text `ping`, binary results, calls with all that we add. */
  ours: boolean;
  /** Milliseconds since 1970. */
  lastAt: number;
  proof: Proof | null;
  rates: [string, RateState][];
}

export interface DeviceSocket {
  readonly ws: WebSocket;
  readonly attachment: DeviceAttachment;
}

type AutoResponseTime = (ws: WebSocket) => Date | null;

const LOOK_EVERY_CHARS = 1024 * 1024;

export class DeviceLink {
  readonly #autoResponseTime: AutoResponseTime;
  #current: DeviceSocket | undefined;
  /** Characters sent since the queue was looked at: asking the runtime costs more than a small frame does. */
  #sinceLook = 0;

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

  /** After a sleep: the newest registered socket is the one that counts. */
  restore(sockets: readonly DeviceSocket[]): void {
    for (const socket of sockets) {
      if (!socket.attachment.registered || socket.ws.readyState !== WebSocket.OPEN) continue;
      if (socket.attachment.epoch > (this.#current?.attachment.epoch ?? 0)) this.#current = socket;
    }
  }

  /** Takes a socket that has proved itself; an older one is closed. */
  take(socket: DeviceSocket, ours: boolean, now: number): void {
    const older = this.#current;
    const { attachment } = socket;
    attachment.registered = true;
    attachment.ours = ours;
    attachment.epoch = (older?.attachment.epoch ?? 0) + 1;
    attachment.lastAt = now;
    attachment.rates = older?.attachment.rates ?? [];
    delete attachment.token;
    socket.ws.serializeAttachment(attachment);
    this.#current = socket;
    if (older && older.ws !== socket.ws)
      older.ws.close(CLOSE.replaced, "A newer connection of this device took over");
  }

  /** Lets a socket go. True: it was the one that counted. */
  drop(ws: WebSocket): boolean {
    if (this.#current?.ws !== ws) return false;
    this.#current = undefined;
    return true;
  }

  /** When the device last gave a sign of life, in milliseconds since 1970. */
  lastSign(): number | undefined {
    return this.#current && this.signOf(this.#current);
  }

  signOf({ ws, attachment }: DeviceSocket): number {
    return Math.max(attachment.lastAt, this.#autoResponseTime(ws)?.getTime() ?? 0);
  }

  /** Device document, Backend Device States; `UNKNOWN` is its caller's to tell. Our agent beats more often. */
  state(now: number): Exclude<DeviceState, "UNKNOWN"> {
    const lastSign = this.lastSign();
    if (lastSign === undefined || this.isSilent(now)) return "OFFLINE";
    const patience = this.#current?.attachment.ours ? TIMES.agentIdleAfter : TIMES.idleAfter;
    return now - lastSign >= patience ? "IDLE" : "ONLINE";
  }

  /** Of our agent's heartbeats two and a half are missing, or a bare device is `OFFLINE` by its document. */
  isSilent(now: number): boolean {
    if (!this.#current) return false;
    const { ours, lastAt } = this.#current.attachment;
    const patience = ours ? TIMES.silentAfter : TIMES.offlineAfter;
    return now - lastAt >= patience && now - (this.lastSign() ?? now) >= patience;
  }

  /** The socket for a call. Throws MatrxError `DEVICE_OFFLINE`, or `RATE_LIMITED` when its queue is full. */
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

  /** Sends a frame. Throws when the socket broke. */
  sendTo(socket: DeviceSocket, frame: string): void {
    this.#sinceLook += frame.length;
    socket.ws.send(frame);
  }

  /** Sends a frame if the link is up. False: it is not. */
  send(frame: ToDevice | string): boolean {
    const socket = this.#current;
    if (!socket || socket.ws.readyState !== WebSocket.OPEN) return false;
    this.sendTo(socket, typeof frame === "string" ? frame : JSON.stringify(frame));
    return true;
  }

  /** Sends what the device's own words brought about, which it may miss: one that talks and does not read is not answered. */
  reply(frame: ToDevice): void {
    if (this.#current && !this.#isFull(this.#current)) this.send(frame);
  }

  #isFull({ ws }: DeviceSocket): boolean {
    if (this.#sinceLook <= LOOK_EVERY_CHARS) return false;
    if (queuedBytes(ws) > DEVICE_QUEUE_MAX_BYTES) return true;
    this.#sinceLook = 0;
    return false;
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
