/** One connection to the local server: the guide's WebSocket, with signs of life. */
import type { ToCaller } from "@matrx/shared/caller/to-caller.ts";
import type { Target } from "./probe.ts";

/** A sign of life is asked for this often; without one until then the link is broken, in milliseconds. */
const PING_EVERY = 20_000;

export interface DirectLink {
  /** False: it is not open. */
  send(text: string): boolean;
  /** Asks for a sign of life now. */
  check(): void;
  close(): void;
}

export interface LinkListener {
  onFrame(frame: ToCaller): void;
  /** The time of a sign of life, there and back, in milliseconds. */
  onRoundTrip(ms: number): void;
  /** Called once, unless it was closed here. */
  onEnd(): void;
}

/** Opens one, which continues `session`: the server keeps its working folder and background jobs. */
export function openLink({ address, token }: Target, session: string | undefined, listener: LinkListener) {
  const url = new URL("/ws", address);
  url.protocol = "ws:";
  if (session !== undefined) url.searchParams.set("session", session);
  return follow(new WebSocket(url, ["matrx.v1", ...(token ? [`bearer.${token}`] : [])]), listener);
}

function follow(socket: WebSocket, { onFrame, onRoundTrip, onEnd }: LinkListener): DirectLink {
  let askedAt: number | undefined = performance.now();
  let isOver = false;
  const send = (text: string) => {
    if (socket.readyState !== WebSocket.OPEN) return false;
    socket.send(text);
    return true;
  };
  const close = () => {
    isOver = true;
    clearInterval(beat);
    socket.close();
  };
  const end = () => {
    if (isOver) return;
    close();
    onEnd();
  };
  const check = () => {
    if (askedAt !== undefined && performance.now() - askedAt > PING_EVERY / 2) return end();
    if (askedAt === undefined && send('{"action":"ping"}')) askedAt = performance.now();
  };
  const beat = setInterval(check, PING_EVERY);
  socket.onmessage = ({ data }) => {
    if (isOver) return;
    const frame = parsed(data);
    if (frame?.type === "pong" && askedAt !== undefined) onRoundTrip(performance.now() - askedAt);
    askedAt = undefined;
    // A newer server may send what this page does not know.
    if (frame) onFrame(frame);
  };
  socket.onclose = end;
  return { send, check, close };
}

function parsed(data: unknown): ToCaller | undefined {
  try {
    return JSON.parse(String(data));
  } catch {
    return undefined;
  }
}
