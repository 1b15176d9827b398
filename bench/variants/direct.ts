/** No relay: the caller dials the device itself. The limit of what a relay can reach. */
import { emptyWork } from "../frames.ts";
import { httpLine } from "../http-line.ts";
import type { Processes } from "../processes.ts";
import { socketLine } from "../socket-line.ts";
import type { Variant } from "../variant.ts";

export async function direct(processes: Processes): Promise<{ socket: Variant; rest: Variant }> {
  const { port } = await processes.start("device");
  const work = emptyWork("Read");
  return {
    socket: { name: "direct WebSocket", line: await socketLine(`ws://127.0.0.1:${port}`, work) },
    rest: { name: "direct HTTP", line: httpLine({ port, path: "/" }, work) },
  };
}
