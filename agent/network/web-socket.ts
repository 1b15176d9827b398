/** A WebSocket to a server elsewhere, reached as `dial` reaches it. */
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
  return new WebSocket(url, [...protocols], {
    ...options,
    perMessageDeflate: false,
    // The type knows only functions that answer at once.
    ...(isElsewhere && {
      createConnection: connectFor(place) as unknown as ClientOptions["createConnection"],
    }),
  } as ClientOptions);
}
