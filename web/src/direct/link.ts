/** One connection to the local server: the guide's WebSocket, with signs of life. */
import type { ToCaller } from "@matrx/shared/caller/to-caller.ts";
import { keepAlive, type LiveSocket, type LiveSocketListener } from "../relay/live-socket.ts";
import type { Target } from "./probe.ts";

/** Opens one, which continues `session`: the server keeps its working folder and background jobs. */
export function openLink(
  { address, token }: Target,
  session: string | undefined,
  listener: LiveSocketListener<ToCaller>,
): LiveSocket {
  const url = new URL("/ws", address);
  url.protocol = "ws:";
  if (session !== undefined) url.searchParams.set("session", session);
  const socket = new WebSocket(url, ["matrx.v1", ...(token ? [`bearer.${token}`] : [])]);
  return keepAlive(socket, parsed, listener);
}

/** A newer server may send what this page does not know. */
function parsed(data: unknown): ToCaller | undefined {
  try {
    return JSON.parse(String(data));
  } catch {
    return undefined;
  }
}
