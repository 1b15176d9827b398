/** A bare relay in Node, in a process of its own. */
import { emptyWork } from "../frames.ts";
import type { Processes } from "../processes.ts";
import { socketLine } from "../socket-line.ts";
import type { Variant } from "../variant.ts";

export async function nodeRelay(processes: Processes): Promise<Variant> {
  const relay = await processes.start("node-relay");
  const url = `ws://127.0.0.1:${relay.port}`;
  await processes.start("device", { relay: `${url}/device` });
  const line = await socketLine(`${url}/call`, emptyWork("Read"));
  return { name: "Node ws relay", line, relay: relay.pid };
}
