/** Who listens on a port of this machine. */
import { currentPlatform } from "./current.ts";
import { isListening, type SocketFacts, socketsOf } from "./sockets.ts";

/** How long to look, in milliseconds: whoever asks has something else to say. */
const LOOK_MS = 3000;
const UNKNOWN = "another program";

/** In words, such as `node (process 4711)`, as far as the system tells this user. Never throws. */
export async function portHolder(port: number): Promise<string> {
  const isWanted = (socket: SocketFacts) =>
    socket.protocol === "tcp" && isListening(socket) && socket.local.port === port;
  try {
    const signal = AbortSignal.timeout(LOOK_MS);
    const { sockets } = await socketsOf(currentPlatform().sockets, { isWanted, most: 8 }, signal);
    const holder = sockets.find(({ pid }) => pid !== null);
    return holder ? `${holder.process ?? UNKNOWN} (process ${holder.pid})` : UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}
