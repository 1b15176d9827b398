/** One connection of the account link: what the relay tells this person's screens. */
import type { ToPerson } from "@matrx/shared/account-frames.ts";
import { frameOf } from "./frames.ts";
import type { LiveSocket, LiveSocketListener } from "./live-socket.ts";
import { openTokenSocket } from "./token-socket.ts";

/** Opens one. Throws ApiError if there is no way to get a token. */
export function openAccountSocket(listener: LiveSocketListener<ToPerson>): Promise<LiveSocket> {
  return openTokenSocket("/v1/account/ws", frameOf, listener);
}
