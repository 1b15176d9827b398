/** Connects to a port of this machine, by its loopback addresses alone. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";

/** The hosts that a call may name, with the addresses that are tried in turn. */
export const LOOPBACK = {
  localhost: ["127.0.0.1", "::1"],
  "127.0.0.1": ["127.0.0.1"],
  "::1": ["::1"],
} as const;
export type LoopbackHost = keyof typeof LOOPBACK;

/** How long one address may take, in milliseconds. */
const CONNECTED_WITHIN = 5000;

/** Connects; nothing is read from the socket yet. Throws MatrxError `UNAVAILABLE` if nobody serves the port. */
export async function connectPort(port: number, host: LoopbackHost, signal: AbortSignal): Promise<Socket> {
  for (const address of LOOPBACK[host]) {
    const socket = await tryAddress(port, address, signal);
    if (socket) return socket;
    signal.throwIfAborted();
  }
  throw nobodyThere(port);
}

async function tryAddress(port: number, host: string, signal: AbortSignal): Promise<Socket | undefined> {
  const socket = connect({ port, host, allowHalfOpen: true, noDelay: true });
  // Whoever uses it sees the error where it reads or writes.
  socket.on("error", () => undefined);
  try {
    await once(socket, "connect", {
      signal: AbortSignal.any([signal, AbortSignal.timeout(CONNECTED_WITHIN)]),
    });
  } catch {
    socket.destroy();
    return undefined;
  }
  // Without a listener, the system may choose the same port for this end and connect it to itself.
  if (socket.localPort !== port) return socket;
  socket.destroy();
  return undefined;
}

function nobodyThere(port: number): MatrxError {
  return toolError("UNAVAILABLE", `Nobody serves port ${port} on this device`, {
    hint: "Start the program there; it must listen on 127.0.0.1 or ::1",
    details: { port, reason: "nobody_listens" },
  });
}
