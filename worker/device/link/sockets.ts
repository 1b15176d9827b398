/** The device's sockets: accepted before they prove anything, registered once they do, and closed. */
import { CLOSE, closeReason } from "@matrx/shared/close-codes.ts";
import {
  type DeviceBulk,
  type DeviceRegister,
  deviceBulkSchema,
  deviceRegisterSchema,
  type ToDevice,
} from "@matrx/shared/device-frames.ts";
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import { randomBase32 } from "@matrx/shared/ids.ts";
import { check, parseJsonObject } from "@matrx/shared/json-input.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { NONCE_HEADER, PROTOCOL } from "@matrx/shared/tokens.ts";
import { bearerOf } from "../../auth/caller.ts";
import { unauthenticated } from "../../auth/keys.ts";
import { errorShapeOf } from "../../problem.ts";
import { MessageBuffer, sourceOfDevice, switching } from "../../socket.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { AnswerCredit } from "../calls/answer-credit.ts";
import type { ChangedRights } from "../calls/changed-rights.ts";
import type { Recovery } from "../calls/recovery.ts";
import type { DeviceAttachment, DeviceSocket } from "../connection.ts";
import type { DeviceContext } from "../context.ts";
import type { DeviceRecord } from "../store.ts";
import { type DeviceMessages, sendError } from "./messages.ts";
import { deviceInfoOf, isOwnCredential, requireProof } from "./registration.ts";

/** The parts that react to the link and to its messages. */
interface Handlers {
  readonly rights: ChangedRights;
  readonly credit: AnswerCredit;
  readonly recovery: Recovery;
  readonly approvals: Approvals;
  readonly messages: DeviceMessages;
}

/** A socket that has not yet proved itself. */
interface Candidate {
  socket: DeviceSocket;
  deadline: ReturnType<typeof setTimeout>;
  /** Messages that arrived while the credential was being checked. */
  waiting: MessageBuffer | undefined;
  /** Number of messages that were not a registration. */
  wrong: number;
}

/** Limits on sockets waiting to register: those that came with the device's own credential, and all others. */
const VOUCHED_MAX = 8;
const STRANGERS_MAX = 64;
/** Beyond this many sockets, including those that never answered a close frame, no more strangers are accepted. */
const SOCKETS_MAX = 256;
const WAITING_MAX = 16;
/** The same limit as in `device_register`; a longer one would not fit into the attachment. */
const TOKEN_CHARS_MAX = 8192;
const WRONG_MAX = 8;

export class DeviceSockets {
  readonly #context: DeviceContext;
  readonly #handlers: Handlers;
  readonly #candidates = new Map<WebSocket, Candidate>();
  /** Sockets that have registered; only the link's current one counts. */
  readonly #registered = new Map<WebSocket, DeviceSocket>();

  constructor(context: DeviceContext, handlers: Handlers) {
    this.#context = context;
    this.#handlers = handlers;
  }

  /** Accepts a device that dials in; it has ten seconds to register. */
  async accept(request: Request, record: DeviceRecord): Promise<Response> {
    const token = bearerOf(request);
    if (token && token.length > TOKEN_CHARS_MAX)
      throw new MatrxError(unauthenticated("The token can't be read"));
    const { host } = new URL(request.url);
    const vouched = token !== undefined && (await isOwnCredential(this.#context.env, record, token, host));
    if (!vouched && this.#context.state.getWebSockets("device").length >= SOCKETS_MAX) throw tooCrowded();
    const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    const attachment: DeviceAttachment = {
      role: "device",
      nonce: randomBase32(32),
      host,
      ...(token && { token }),
      vouched,
      source: sourceOfDevice(request),
      registered: false,
      epoch: 0,
      ours: record.identity.kind === "agent",
      protocol: 0,
      lastAt: Date.now(),
      proof: null,
      rates: [],
    };
    this.#context.state.acceptWebSocket(server, ["device"]);
    server.serializeAttachment(attachment);
    this.#addCandidate({ ws: server, attachment });
    return switching(client, { [NONCE_HEADER]: attachment.nonce });
  }

  /** After hibernation: an unregistered socket gets another ten seconds, unless it was turned away. */
  restore(sockets: readonly DeviceSocket[]): void {
    for (const socket of sockets) {
      if (socket.attachment.registered) this.#registered.set(socket.ws, socket);
      else if (socket.ws.readyState === WebSocket.OPEN) this.#addCandidate(socket);
    }
    this.#context.link.restore(sockets);
  }

  /** Returns false if it is not a device's socket. */
  message(ws: WebSocket, data: string | ArrayBuffer, now: number): boolean {
    const socket = this.#registered.get(ws);
    if (socket?.attachment.bulk) {
      if (this.#context.link.isBulk(ws)) this.#handlers.messages.bulkMessage(data, now);
      return true;
    }
    if (socket) {
      if (!this.#context.link.isCurrent(ws)) return true;
      this.#handlers.messages.message(socket, data, now);
      this.#context.signs.heard(now);
      return true;
    }
    const candidate = this.#candidates.get(ws);
    if (candidate) this.#firstMessage(candidate, data);
    return candidate !== undefined;
  }

  closed(ws: WebSocket, attachment: DeviceAttachment, now: number): void {
    this.#dropCandidate(ws);
    if (attachment.bulk) return this.#bulkClosed(ws);
    const { link, signs, store, timer, proof, rates, streams } = this.#context;
    const { credit, recovery, approvals } = this.#handlers;
    const socket = this.#registered.get(ws);
    const last_seen = link.signOf(socket ?? { ws, attachment });
    this.#registered.delete(ws);
    ws.serializeAttachment(null);
    const droppedAsleep = !socket && attachment.registered && !link.current;
    if (!link.drop(ws) && !droppedAsleep) return;
    if (droppedAsleep) rates.restore(attachment.rates, [], now);
    rates.detached(now);
    signs.ended("silent", now);
    credit.linkChanged(now);
    streams.linkLost();
    recovery.linkDown(now);
    approvals.linkDown(now);
    this.#context.onToolsChanged();
    if (store.record) store.rememberLastSeen({ last_seen, proof: proof.view ?? attachment.proof });
    timer.by(now);
  }

  /** Whether it was the device's own until another connection took its place. */
  gaveWay(ws: WebSocket): boolean {
    const attachment = ws.deserializeAttachment() as DeviceAttachment | { role: "caller" } | null;
    if (attachment?.role !== "device" || attachment.bulk) return false;
    return attachment.registered && !this.#context.link.isCurrent(ws);
  }

  #bulkClosed(ws: WebSocket): void {
    this.#registered.delete(ws);
    ws.serializeAttachment(null);
    if (this.#context.link.dropBulk(ws)) this.#context.streams.bulkLost();
  }

  /** The device was removed: whatever its sockets still send is ignored. */
  closeAll(code: number, reason: string): void {
    const sockets = [...this.#candidates.keys(), ...this.#registered.keys()];
    for (const ws of sockets) {
      this.#dropCandidate(ws);
      this.#registered.delete(ws);
      this.#context.link.drop(ws);
      this.#context.link.dropBulk(ws);
      ws.close(code, reason);
    }
  }

  /** Probes a link that looks open but has been silent, and closes it once it is dead. */
  requireSigns(now: number): void {
    const { link, signs } = this.#context;
    if (!link.current) return;
    if (signs.isDead(now)) {
      const { ws, attachment } = link.current;
      ws.close(CLOSE.silent, "No sign of life");
      this.closed(ws, attachment, now);
    } else if (signs.isDue(now)) signs.ask(now);
  }

  /** Stores proof and rates with the socket, so that they survive hibernation. */
  persist(now: number): void {
    const { link, rates, proof } = this.#context;
    const socket = link.current;
    if (!socket || socket.ws.readyState !== WebSocket.OPEN) return;
    socket.attachment.proof = proof.view;
    link.attach(rates.attachable(now));
  }

  #addCandidate(socket: DeviceSocket): void {
    const { ws, attachment } = socket;
    const rivals = [...this.#candidates.values()].filter(
      (candidate) => candidate.socket.attachment.vouched === attachment.vouched,
    );
    if (rivals.length >= (attachment.vouched ? VOUCHED_MAX : STRANGERS_MAX)) {
      const loser = oldestOfLargestCrowd(rivals);
      this.#dropCandidate(loser);
      loser.close(CLOSE.unregistered, "Others are waiting to register");
    }
    const deadline = setTimeout(() => this.#tooLate(ws), TIMES.registerWithin);
    this.#candidates.set(ws, { socket, deadline, waiting: undefined, wrong: 0 });
  }

  #dropCandidate(ws: WebSocket): void {
    clearTimeout(this.#candidates.get(ws)?.deadline ?? null);
    this.#candidates.delete(ws);
  }

  #tooLate(ws: WebSocket): void {
    this.#dropCandidate(ws);
    const message = "No device_register within ten seconds";
    sendError(ws, { code: "TIMEOUT", message, hint: "Dial again", hop: "relay" }, Date.now());
    ws.close(CLOSE.unregistered, message);
  }

  /** The first message decides; those that arrive while its credential is checked wait in order. */
  #firstMessage(candidate: Candidate, data: string | ArrayBuffer): void {
    const { ws } = candidate.socket;
    if (candidate.waiting) {
      if (!candidate.waiting.push(data)) this.#turnAway(ws, tooEager());
      return;
    }
    try {
      if (typeof data !== "string") throw notRegistered();
      const frame = parseJsonObject(data, LIMITS.registerFrameBytes);
      const register = readFirst(frame);
      candidate.waiting = new MessageBuffer(WAITING_MAX);
      void this.#register(candidate, register);
    } catch (error) {
      candidate.wrong++;
      if (candidate.wrong >= WRONG_MAX) this.#turnAway(ws, error);
      else sendError(ws, errorShapeOf(error), Date.now());
    }
  }

  async #register(candidate: Candidate, register: DeviceRegister | DeviceBulk): Promise<void> {
    const { socket } = candidate;
    const { record } = this.#context.store;
    try {
      if (!record) throw notRegistered();
      await requireProof(this.#context.env, record, register, socket.attachment);
    } catch (error) {
      return this.#turnAway(socket.ws, error);
    }
    if (!this.#candidates.has(socket.ws)) return;
    this.#dropCandidate(socket.ws);
    if (register.type === "device_register") this.#welcome(socket, record, register);
    else if (!this.#welcomeBulk(socket)) return;
    for (const data of candidate.waiting?.messages ?? []) this.message(socket.ws, data, Date.now());
  }

  /** Returns false if it was turned away. */
  #welcomeBulk(socket: DeviceSocket): boolean {
    try {
      this.#context.link.takeBulk(socket, Date.now());
    } catch (error) {
      this.#turnAway(socket.ws, error);
      return false;
    }
    this.#registered.set(socket.ws, socket);
    socket.ws.send(JSON.stringify({ type: "bulk_ready" } satisfies ToDevice));
    return true;
  }

  #welcome(socket: DeviceSocket, record: DeviceRecord, register: DeviceRegister): void {
    const now = Date.now();
    const { store, link, signs, rates, timer, streams } = this.#context;
    const { rights, credit, recovery, approvals } = this.#handlers;
    const ours = record.identity.kind === "agent" && register.protocol !== undefined;
    const earlierJournal = store.deviceInfo?.journal_id ?? null;
    if (register.paused) socket.attachment.paused = register.paused;
    if (register.heads_wanted) socket.attachment.keepsHeads = true;
    const protocol = ours ? (register.protocol ?? 0) : 0;
    const wanted =
      ours && register.manifest_hash !== undefined && store.manifest?.hash !== register.manifest_hash;
    if (wanted) socket.attachment.manifestDue = true;
    link.take(socket, { ours, protocol, rates: rates.attachable(now) }, now);
    signs.ended("replaced", now);
    streams.linkLost();
    this.#registered.set(socket.ws, socket);
    store.setDeviceInfo(deviceInfoOf(register));
    if (ours && recovery.lostRecords(register, store.ledgerId, now)) store.noteLoss(now);
    const ledgerId = ours ? store.ledgerId : undefined;
    link.send({
      type: "device_registered",
      device_id: record.id,
      permissions: store.permissions,
      ...(ours && { protocol: PROTOCOL, credit_above: LIMITS.largeAnswerBytes }),
      ...(ours && { status_wanted: true, progress_wanted: true }),
      ...(wanted && { manifest_wanted: true }),
      ...(ledgerId !== undefined && { ledger_id: ledgerId }),
    });
    const journalIsNew = earlierJournal !== null && earlierJournal !== (register.journal_id ?? null);
    credit.linkChanged(now);
    recovery.linkUp(ours, journalIsNew, now);
    if (ours) rights.tellAllEnded();
    approvals.linkUp(now);
    this.#context.onToolsChanged();
    if (socket.attachment.keepsHeads) this.#context.heads.connected(now);
    timer.by(now);
  }

  #turnAway(ws: WebSocket, error: unknown): void {
    this.#dropCandidate(ws);
    const shape = errorShapeOf(error);
    sendError(ws, shape, Date.now());
    const code =
      shape.code === "UNKNOWN_DEVICE"
        ? CLOSE.unknownDevice
        : shape.code === "UNAUTHENTICATED"
          ? CLOSE.unauthenticated
          : CLOSE.protocol;
    ws.close(code, closeReason(shape.message));
  }
}

/** The first message of a connection: what it is for, with its proof. Throws MatrxError. */
function readFirst(frame: Record<string, unknown>): DeviceRegister | DeviceBulk {
  if (frame.type === "device_register") return check(deviceRegisterSchema, frame);
  if (frame.type === "device_bulk") return check(deviceBulkSchema, frame);
  throw notRegistered();
}

/** The longest-waiting connection of the address that has most of them: a flood crowds out only itself. */
function oldestOfLargestCrowd(candidates: readonly Candidate[]): WebSocket {
  const crowds = Map.groupBy(candidates, ({ socket }) => socket.attachment.source);
  const [largest] = [...crowds.values()].sort((one, other) => other.length - one.length);
  const [oldest] = largest ?? [];
  if (!oldest) throw new Error("nobody waits");
  return oldest.socket.ws;
}

function tooCrowded(): MatrxError {
  return relayError("UNAVAILABLE", "Too many connections for this device are waiting to register", {
    hint: "Reconnect in a moment; with the device's credential in the Authorization header there is always room",
  });
}

function notRegistered(): MatrxError {
  return relayError("UNKNOWN_DEVICE", "The device is not registered on this connection", {
    hint: "Send device_register first",
  });
}

function tooEager(): MatrxError {
  return relayError("RATE_LIMITED", "Too many messages before registration was answered", {
    hint: "Wait for device_registered",
  });
}
