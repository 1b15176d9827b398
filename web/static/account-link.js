/** The account link: what the relay tells this person's screens. It opens again when it breaks. */
import { openSocket } from "./api.js";

/** Pauses before it is opened again, in milliseconds. */
const AGAIN = { first: 1000, longest: 15_000 };
/** A sign of life is asked for this often; without one until then the link is broken, in milliseconds. */
const PING_EVERY = 30_000;

/**
 * Follows the link until `close`. `onOpen`: it stands; it gets the relay's greeting, and what sends an action. `onDown`: it does not, and is tried again unless this resolves to
 * false.
 */
export function followAccount({ onOpen, onFrame, onDown }) {
  let link;
  let timer;
  let pause = AGAIN.first;
  let closed = false;
  const down = async () => {
    link = undefined;
    if (closed || !(await onDown()) || closed) return;
    timer = setTimeout(begin, pause);
    pause = Math.min(pause * 2, AGAIN.longest);
  };
  const begin = async () => {
    const socket = await openSocket("/v1/account/ws").catch(() => undefined);
    if (!socket) return down();
    if (closed) return socket.close();
    link = followLink(socket, {
      onFrame: (frame) => {
        if (frame.type !== "hello") return onFrame(frame);
        pause = AGAIN.first;
        onOpen(frame, (action) => link?.send(action));
      },
      onEnd: down,
    });
  };
  void begin();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
      link?.close();
    },
  };
}

/** One connection. `onEnd` is called once, unless it was closed here. */
function followLink(socket, { onFrame, onEnd }) {
  let isHeard = true;
  const close = () => {
    clearInterval(beat);
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  };
  const send = (action) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(action));
  };
  const end = () => {
    close();
    void onEnd();
  };
  const beat = setInterval(() => {
    if (!isHeard) return end();
    isHeard = false;
    send({ action: "ping" });
  }, PING_EVERY);
  socket.onmessage = ({ data }) => {
    isHeard = true;
    onFrame(JSON.parse(data));
  };
  socket.onclose = end;
  return { close, send };
}
