/** Joins stdin and stdout with a port of a device, as programs such as ssh want it of their ProxyCommand. */
import { once } from "node:events";
import { Duplex } from "node:stream";
import type { Device } from "@matrx/client/device.ts";
import { joined } from "../../ports/join.ts";
import { FORWARD_CREDIT } from "./listener.ts";

/**
 * Passes bytes until both directions have ended, or the port's has while stdin is open: stdout cannot be closed alone, and
 * whoever reads it waits for its end. Throws MatrxError.
 */
export async function forwardStdio(remote: Device, port: number, signal: AbortSignal): Promise<void> {
  const { stream } = await remote.open("ConnectPort", { port }, { credit: FORWARD_CREDIT, signal });
  const stdio = Duplex.from({ readable: process.stdin, writable: process.stdout });
  // A reader that is gone ends the command by `signal`.
  stdio.on("error", () => undefined);
  const whole = joined(stdio, stream, () => stream.end());
  const ended = once(stdio, "finish").then(() => (process.stdin.readableEnded ? whole : undefined));
  await Promise.race([whole, ended]);
  process.stdin.destroy();
}
