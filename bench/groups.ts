/** What is compared with what: starts every variant and puts them into groups. */
import type { Shape } from "./measure.ts";
import type { Processes } from "./processes.ts";
import type { Group } from "./report.ts";
import { direct } from "./variants/direct.ts";
import { nodeRelay } from "./variants/node-relay.ts";
import { rawObject } from "./variants/raw-object.ts";

const ONE: Shape = { inFlight: 1, calls: 150 };
const FEW: Shape = { inFlight: 16, calls: 600 };
const MANY: Shape = { inFlight: 64, calls: 600 };

export async function startGroups(processes: Processes, say: (line: string) => void): Promise<Group[]> {
  say("Starting: direct, Node relay, raw object");
  const none = await direct(processes);
  const node = await nodeRelay(processes);
  const raw = await rawObject(processes);
  return [
    {
      title: "WebSocket calls",
      base: raw.socket,
      variants: [none.socket, node, raw.socket],
      shapes: [ONE, FEW, MANY],
    },
    {
      title: "REST calls",
      base: raw.rest,
      variants: [none.rest, raw.rest],
      shapes: [ONE, FEW, MANY],
    },
  ];
}
