/** A WebSocket to the relay in the name of whoever is signed in, with signs of life and a token that is renewed. */
import { accessToken } from "./api.ts";
import { keepAlive, type LiveSocket, type LiveSocketListener } from "./live-socket.ts";

/** More often than an access token ends, in milliseconds. */
const RENEW_EVERY = 120_000;

/** Opens one at a path of the relay. `read`: as for `keepAlive`. Throws ApiError if there is no way to get a token. */
export async function openTokenSocket<Frame extends { readonly type: string }>(
  path: string,
  read: (data: unknown) => Frame | undefined,
  listener: LiveSocketListener<Frame>,
): Promise<LiveSocket> {
  const token = await accessToken();
  const url = new URL(path, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const socket = new WebSocket(url, ["matrx.v1", ...(token ? [`bearer.${token}`] : [])]);
  const live = keepAlive(socket, read, listener);
  const renewal = setInterval(async () => {
    // Whatever is wrong, the relay closes the socket when its token ends.
    const next = await accessToken().catch(() => undefined);
    if (next) live.send(JSON.stringify({ action: "auth", token: next }));
  }, RENEW_EVERY);
  socket.addEventListener("close", () => clearInterval(renewal));
  return live;
}
