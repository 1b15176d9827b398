/** Dials with the platform's own WebSocket, in browsers, Node 22 and later, and Workers. */
import { callerError, type MatrxError } from "@matrx/shared/errors.ts";
import { SUBPROTOCOL } from "@matrx/shared/tokens.ts";
import type { Dial, Socket } from "./socket.ts";

/** Beyond this many queued bytes, streams wait: everything else would wait behind them. */
const QUEUED_MAX = 512 * 1024;
/** The platform does not tell when bytes have left: how often to look, in milliseconds. */
const LOOK_EVERY = 20;
/** How long a socket may take to open, in milliseconds; the platform would wait for minutes. */
const OPENS_WITHIN = 15_000;

/** What is used of a WebSocket: the platform's own have it, and that of the package `ws`. */
export interface WebSocketLike {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  addEventListener(type: string, listener: (event: object) => void): void;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(): void;
}

export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike;

/** `readyState` of an open socket. */
const OPEN = 1;

export interface WebSocketOptions {
  /** Of the device, as in `https://relay.example/v1/devices/laptop-4k7m2x9qpa`, or of a local server. */
  readonly base: string;
  /** Read anew for each connection. */
  readonly token: () => string | undefined | Promise<string | undefined>;
  /** Why the server refuses the upgrade, which the platform does not tell; undefined: it does not refuse. */
  readonly whyRefused: () => Promise<MatrxError | undefined>;
  /** Another one, where the platform has none. */
  readonly WebSocket?: WebSocketConstructor | undefined;
}

/** Throws MatrxError: the platform has no WebSocket, and none was given. */
export function webSocketDial({ base, token, whyRefused, ...platform }: WebSocketOptions): Dial {
  const Socket: WebSocketConstructor | undefined = platform.WebSocket ?? globalThis.WebSocket;
  if (!Socket) throw noWebSocket();
  return async (session, { onOpen, onMessage, onRefused, onClose }) => {
    const query = session === undefined ? "" : `?session=${encodeURIComponent(session)}`;
    const current = await token();
    // Pages can't send headers with an upgrade.
    const bearer = current === undefined ? [] : [`${SUBPROTOCOL.bearer}${current}`];
    const socket = new Socket(`${base.replace(/^http/, "ws")}/ws${query}`, [SUBPROTOCOL.v1, ...bearer]);
    socket.binaryType = "arraybuffer";
    let wasOpen = false;
    let isGivenUp = false;
    let failure: string | undefined;
    const late = setTimeout(() => {
      isGivenUp = true;
      socket.close();
      onClose("no answer in time");
    }, OPENS_WITHIN);
    socket.addEventListener("open", () => {
      clearTimeout(late);
      wasOpen = true;
      onOpen();
    });
    // The package ws throws what nobody listens for; pages are told nothing here.
    socket.addEventListener("error", (event) => {
      failure = (event as { message?: string }).message;
    });
    socket.addEventListener("message", (event) => {
      const { data } = event as { data: string | ArrayBuffer };
      onMessage(typeof data === "string" ? data : new Uint8Array(data));
    });
    socket.addEventListener("close", async (event) => {
      clearTimeout(late);
      if (isGivenUp) return;
      const { code, reason } = event as { code: number; reason: string };
      const refusal = wasOpen ? undefined : await whyRefused();
      if (refusal) onRefused(refusal);
      else onClose(reason || failure || `closed (${code})`);
    });
    return paced(socket);
  };
}

function noWebSocket(): MatrxError {
  return callerError("INVALID_PARAMETERS", "This platform has no WebSocket", {
    hint: "Give one, such as that of the package ws, as the option WebSocket; or use connectByHttp",
  });
}

function paced(socket: WebSocketLike): Socket {
  let sent = 0;
  const isOpen = () => socket.readyState === OPEN;
  const isFull = () => isOpen() && socket.bufferedAmount >= QUEUED_MAX;
  return {
    send: (data) => {
      if (!isOpen()) return;
      socket.send(data);
      if (typeof data !== "string") sent += data.length;
    },
    ready: () => (isFull() ? untilNot(isFull) : undefined),
    leftBytes: () => sent - socket.bufferedAmount,
    close: () => socket.close(),
    cut: () => socket.close(),
  };
}

async function untilNot(isFull: () => boolean): Promise<void> {
  while (isFull()) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
}
