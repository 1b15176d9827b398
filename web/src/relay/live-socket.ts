/** A WebSocket with signs of life: one that falls silent counts as broken. */

/** A sign of life is asked for this often; without any in half that time, the connection is broken. In milliseconds. */
const PING_EVERY = 20_000;

export interface LiveSocket {
  /** False: it is not open. */
  send(frame: string): boolean;
  /** Asks for a sign of life now: a network that went away may not have closed the connection. */
  check(): void;
  close(): void;
}

export interface LiveSocketListener<Frame> {
  onFrame(frame: Frame): void;
  /** The time of a sign of life, there and back, in milliseconds. */
  onRoundTrip(ms: number): void;
  /** Called once, unless it was closed here. */
  onEnd(): void;
}

/** `read`: undefined for a frame that this page does not know. */
export function keepAlive<Frame extends { readonly type: string }>(
  socket: WebSocket,
  read: (data: unknown) => Frame | undefined,
  { onFrame, onRoundTrip, onEnd }: LiveSocketListener<Frame>,
): LiveSocket {
  /** Of a ping that has no pong yet. Whoever opens the socket asks for the first sign of life. */
  let askedAt: number | undefined = performance.now();
  let heardAt = 0;
  let isOver = false;
  const send = (frame: string) => {
    if (socket.readyState !== WebSocket.OPEN) return false;
    socket.send(frame);
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
  const ask = () => {
    if (send('{"action":"ping"}')) askedAt = performance.now();
  };
  const check = () => {
    if (askedAt === undefined) return ask();
    if (performance.now() - askedAt < PING_EVERY / 2) return;
    if (heardAt < askedAt) end();
    else ask();
  };
  const beat = setInterval(check, PING_EVERY);
  socket.onopen = ask;
  socket.onmessage = ({ data }) => {
    if (isOver) return;
    heardAt = performance.now();
    const frame = read(data);
    if (frame?.type === "pong" && askedAt !== undefined) {
      onRoundTrip(heardAt - askedAt);
      askedAt = undefined;
    }
    if (frame) onFrame(frame);
  };
  socket.onclose = end;
  return { send, check, close };
}
