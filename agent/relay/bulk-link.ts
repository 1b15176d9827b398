/** The second connection to the relay, for streams: dialled when a stream needs it, closed when none has for a while. */
import type { DeviceBulk } from "@matrx/shared/device-frames.ts";
import { HEARTBEAT, Heartbeat } from "@matrx/shared/heartbeat.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { isLoopback } from "@matrx/shared/public-url.ts";
import { NONCE_HEADER } from "@matrx/shared/tokens.ts";
import type { Logger } from "pino";
import type { WebSocket } from "ws";
import { openWebSocket } from "../network/web-socket.ts";
import { PacedSocket } from "./paced-socket.ts";

/** How this device dials its relay, and proves which one it is. */
export interface DeviceDial {
  readonly url: string;
  readonly device: string;
  /** Sent with the upgrade. */
  readonly credential: string;
  /** The signed assertion for a connection's nonce. */
  readonly sign: (nonce: string) => Promise<string>;
}

export interface BulkLinkOptions extends DeviceDial {
  readonly log: Logger;
  /** How long it stays open without streams, in milliseconds; for tests. */
  readonly idleMs?: number | undefined;
}

const IDLE_MS = 10_000;

interface BulkEvents {
  readonly onFrame: (frame: Uint8Array) => void;
  /** The connection is gone. */
  readonly onLost: () => void;
}

export class BulkLink {
  readonly #options: BulkLinkOptions;
  readonly #events: BulkEvents;
  #dialling: Promise<boolean> | undefined;
  #socket: WebSocket | undefined;
  #paced: PacedSocket | undefined;
  #users = 0;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: BulkLinkOptions, events: BulkEvents) {
    this.#options = options;
    this.#events = events;
  }

  /** For sending, while it is open. */
  get socket(): PacedSocket | undefined {
    return this.#paced;
  }

  /** Opens the connection for one more stream, until `release`. Resolves with false if that fails: then use the first one. */
  async open(): Promise<boolean> {
    if (this.#isClosed) return false;
    clearTimeout(this.#idle);
    this.#users++;
    this.#dialling ??= this.#dial();
    const isOpen = await this.#dialling;
    if (!isOpen) this.#users--;
    return isOpen;
  }

  release(): void {
    this.#users--;
    if (this.#users > 0 || this.#isClosed) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#retire(), this.#options.idleMs ?? IDLE_MS);
  }

  /** The first connection is gone, or the agent ends. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#socket?.terminate();
  }

  /** From now on the next stream dials anew, even while this connection is still closing. */
  #retire(): void {
    const socket = this.#socket;
    this.#forget();
    socket?.close(1000);
  }

  #dial(): Promise<boolean> {
    const { url, credential, log } = this.#options;
    const socket = openWebSocket(url, [], {
      ...(isSeenByNobody(url) && { generateMask: (mask: Buffer) => void mask.fill(0) }),
      headers: { Authorization: `Bearer ${credential}` },
      handshakeTimeout: TIMES.registerWithin,
      maxPayload: LIMITS.platformFrameBytes,
    });
    this.#socket = socket;
    const opened = Promise.withResolvers<boolean>();
    const late = setTimeout(() => socket.terminate(), TIMES.registerWithin);
    let heartbeat: Heartbeat | undefined;
    let nonce: string | undefined;
    socket.on("upgrade", (response) => {
      nonce = response.headers[NONCE_HEADER.toLowerCase()]?.toString();
    });
    socket.on("open", () => void this.#introduce(socket, nonce));
    socket.on("message", (data, isBinary) => {
      if (isBinary) return this.#events.onFrame(data as Buffer);
      const text = data.toString();
      if (text === "pong") return heartbeat?.answered();
      if (!isReady(text)) {
        log.warn({ said: text.slice(0, 200) }, "the relay did not accept the second connection");
        return socket.terminate();
      }
      clearTimeout(late);
      this.#paced = new PacedSocket(socket);
      heartbeat = beating(socket, this.#paced);
      opened.resolve(true);
    });
    socket.on("error", (err) => log.warn({ err: err.message }, "the second connection failed"));
    socket.on("close", () => {
      clearTimeout(late);
      heartbeat?.stop();
      if (this.#socket === socket) this.#gone();
      opened.resolve(false);
    });
    return opened.promise;
  }

  async #introduce(socket: WebSocket, nonce: string | undefined): Promise<void> {
    const { device, sign, log } = this.#options;
    if (nonce === undefined) return socket.terminate();
    try {
      const auth_token = `Bearer ${await sign(nonce)}`;
      socket.send(
        JSON.stringify({ type: "device_bulk", device_id: device, auth_token } satisfies DeviceBulk),
      );
    } catch (err) {
      log.error({ err }, "the second connection could not be signed");
      socket.terminate();
    }
  }

  #gone(): void {
    const wasOpen = this.#paced !== undefined;
    this.#forget();
    if (wasOpen) this.#events.onLost();
  }

  #forget(): void {
    clearTimeout(this.#idle);
    this.#socket = undefined;
    this.#dialling = undefined;
    this.#paced = undefined;
  }
}

/**
 * Whether no proxy between here and the relay can read the bytes: over TLS, or on this machine. Masks protect such
 * proxies, and nobody else (RFC 6455, section 10.3); a mask of zeros saves going over each byte (decision 0033).
 */
function isSeenByNobody(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "wss:" || isLoopback(hostname);
}

function beating(socket: WebSocket, paced: PacedSocket): Heartbeat {
  const line = { ping: () => socket.send("ping"), leftBytes: () => paced.sentBytes - socket.bufferedAmount };
  return new Heartbeat(line, HEARTBEAT, () => socket.terminate());
}

function isReady(text: string): boolean {
  try {
    return (JSON.parse(text) as { type?: unknown }).type === "bulk_ready";
  } catch {
    return false;
  }
}
