/** Joins stdin and stdout with a port of a device, as programs such as ssh want it of their ProxyCommand. */
import { Duplex } from "node:stream";
import { joined } from "../../ports/join.ts";
import type { StreamPool } from "../client/stream-pool.ts";
import { FORWARD_CREDIT } from "./listener.ts";

/** Passes bytes until both directions have ended. Throws MatrxError. */
export async function forwardStdio(pool: StreamPool, port: number, signal: AbortSignal): Promise<void> {
  const { stream } = await pool.open("ConnectPort", { port }, { credit: FORWARD_CREDIT, signal });
  const stdio = Duplex.from({ readable: process.stdin, writable: process.stdout });
  // A reader that is gone ends the command by `signal`.
  stdio.on("error", () => undefined);
  await joined(stdio, stream, () => stream.end());
}
