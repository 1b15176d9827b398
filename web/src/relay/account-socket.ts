/** One connection of the account link: what the relay tells this person's screens, while their token is renewed. */
import type { ToPerson } from "@matrx/shared/account-frames.ts";
import { accessToken } from "./api.ts";
import { frameOf } from "./frames.ts";
import { keepAlive, type LiveSocket, type LiveSocketListener } from "./live-socket.ts";

/** More often than an access token ends, in milliseconds. */
const RENEW_EVERY = 120_000;

/** Opens one. Throws ApiError if there is no way to get a token. */
export async function openAccountSocket(listener: LiveSocketListener<ToPerson>): Promise<LiveSocket> {
  const token = await accessToken();
  const url = new URL("/v1/account/ws", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const socket = new WebSocket(url, ["matrx.v1", ...(token ? [`bearer.${token}`] : [])]);
  const live = keepAlive(socket, frameOf, listener);
  const renewal = setInterval(async () => {
    // Whatever is wrong, the relay closes the socket when its token ends.
    const next = await accessToken().catch(() => undefined);
    if (next) live.send(JSON.stringify({ action: "auth", token: next }));
  }, RENEW_EVERY);
  socket.addEventListener("close", () => clearInterval(renewal));
  return live;
}
