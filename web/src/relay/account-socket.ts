/** One connection of the account link: what the relay tells this person's screens. */
import type { ToPerson } from "@matrx/shared/account-frames.ts";
import { accessToken } from "./api.ts";
import { frameOf } from "./frames.ts";

/** More often than an access token ends, in milliseconds. */
const RENEW_EVERY = 120_000;
/** A sign of life is asked for this often; without one until then the link is broken, in milliseconds. */
const PING_EVERY = 20_000;

export interface AccountSocket {
  send(action: { action: "watch" }): void;
  /** Asks for a sign of life now: a network that went away may not have closed the connection. */
  check(): void;
  close(): void;
}

export interface AccountListener {
  onFrame(frame: ToPerson): void;
  /** The time of a sign of life, there and back, in milliseconds. */
  onRoundTrip(ms: number): void;
  /** Called once, unless it was closed here. */
  onEnd(): void;
}

/** Opens one. Throws ApiError if there is no way to get a token. */
export async function openAccountSocket(listener: AccountListener): Promise<AccountSocket> {
  const token = await accessToken();
  const url = new URL("/v1/account/ws", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const socket = new WebSocket(url, ["matrx.v1", ...(token ? [`bearer.${token}`] : [])]);
  return follow(socket, listener);
}

function follow(socket: WebSocket, { onFrame, onRoundTrip, onEnd }: AccountListener): AccountSocket {
  let askedAt: number | undefined;
  let isOver = false;
  const send = (action: object) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(action));
  };
  const close = () => {
    isOver = true;
    clearInterval(beat);
    clearInterval(renewal);
    socket.close();
  };
  const end = () => {
    if (isOver) return;
    close();
    onEnd();
  };
  const check = () => {
    if (askedAt !== undefined && performance.now() - askedAt > PING_EVERY / 2) return end();
    if (askedAt !== undefined) return;
    askedAt = performance.now();
    send({ action: "ping" });
  };
  const beat = setInterval(check, PING_EVERY);
  const renewal = setInterval(async () => {
    // Whatever is wrong, the relay closes the socket when its token ends.
    const next = await accessToken().catch(() => undefined);
    if (next) send({ action: "auth", token: next });
  }, RENEW_EVERY);
  socket.onopen = check;
  socket.onmessage = ({ data }) => {
    if (isOver) return;
    const frame = frameOf(data);
    if (frame?.type === "pong" && askedAt !== undefined) onRoundTrip(performance.now() - askedAt);
    askedAt = undefined;
    if (frame) onFrame(frame);
  };
  socket.onclose = end;
  return { send, check, close };
}
