/** A WebSocket to a server elsewhere, reached as `connectFor` reaches it. */
import { type ClientOptions, WebSocket } from "ws";
import { connectFor } from "./dial.ts";

/** Compression is off: it would be done for nothing, since large bodies are compressed from end to end. */
export function openWebSocket(
  url: string,
  protocols: readonly string[],
  options: Omit<ClientOptions, "createConnection" | "perMessageDeflate">,
): WebSocket {
  const place = new URL(url);
  const isElsewhere = place.protocol === "wss:";
  const over = new AbortController();
  // The type knows only functions that answer at once.
  const createConnection = connectFor(place, over.signal) as unknown as ClientOptions["createConnection"];
  const socket = new WebSocket(url, [...protocols], {
    ...options,
    perMessageDeflate: false,
    ...(isElsewhere && { createConnection }),
  } as ClientOptions);
  socket.once("close", () => over.abort());
  return socket;
}
