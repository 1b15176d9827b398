/** What is compared with what: starts every variant and puts them into groups. */
import type { Shape } from "./measure.ts";
import type { Processes } from "./processes.ts";
import type { Group } from "./report.ts";
import type { Size } from "./size.ts";
import { noSshServer } from "./ssh.ts";
import type { Variant } from "./variant.ts";
import { agent } from "./variants/agent.ts";
import { direct } from "./variants/direct.ts";
import { nodeRelay } from "./variants/node-relay.ts";
import { ours, oursLong, startOurs } from "./variants/ours.ts";
import { rawObject, rawObjectLong } from "./variants/raw-object.ts";
import { sshTunnel } from "./variants/ssh.ts";

function shapesOf(size: Size) {
  const shape = (inFlight: number, calls: number): Shape => {
    return { inFlight, calls: size.pick(calls, calls, inFlight) };
  };
  return {
    one: shape(1, 300),
    few: shape(16, 600),
    many: shape(64, 600),
    /** Each answer is 1 MiB. */
    long: shape(1, 20),
    /** Real tools take milliseconds: fewer calls, as long a measurement. */
    fewReal: shape(16, 200),
  };
}

export async function startGroups(
  processes: Processes,
  size: Size,
  say: (line: string) => void,
): Promise<Group[]> {
  const shapes = shapesOf(size);
  say("Starting: direct, Node relay, raw object");
  const none = await direct(processes);
  const node = await nodeRelay(processes);
  const raw = await rawObject(processes);
  say("Starting: our relay, devices without work");
  const relay = await startOurs(processes);
  const our = await ours(processes, relay);
  const long = { raw: await rawObjectLong(processes), ours: await oursLong(processes) };
  const tunnels = await tunnelGroups(processes, our.read, shapes, say);
  say("Starting: our agent");
  const real = await agent(processes, relay);
  return [
    {
      title: "WebSocket calls",
      base: raw.socket,
      variants: [none.socket, node, raw.socket, our.read],
      shapes: [shapes.one, shapes.few, shapes.many],
      aims: [
        { what: "latency beside the raw object", variant: our.read, ratio: "latency_ratio", atMost: 1.25 },
        { what: "CPU beside the raw object", variant: our.read, ratio: "cpu_ratio", atMost: 1.35 },
      ],
    },
    ...tunnels,
    {
      title: "A result of 1 MiB",
      base: long.raw,
      variants: [long.raw, long.ours],
      shapes: [shapes.long],
      aims: [
        {
          what: "CPU of a 1 MiB result beside the raw object",
          variant: long.ours,
          ratio: "cpu_ratio",
          atMost: 1.5,
        },
      ],
    },
    {
      title: "REST calls",
      base: raw.rest,
      variants: [none.rest, raw.rest, our.rest],
      shapes: [shapes.one, shapes.few, shapes.many],
      aims: [{ what: "REST beside the raw object", variant: our.rest, ratio: "latency_ratio", atMost: 1.4 }],
    },
    {
      title: "Calls with an effect, device without work",
      base: our.read,
      variants: [our.read, our.ledger, our.journal],
      shapes: [shapes.one, shapes.few],
      aims: [
        {
          what: "effect beside a read, device without work",
          variant: our.journal,
          ratio: "latency_ratio",
          atMost: 2.5,
        },
      ],
    },
    {
      title: "Calls with an effect, real agent",
      base: real.read,
      variants: [real.read, real.effect],
      shapes: [shapes.one, shapes.fewReal],
      aims: [
        {
          what: "effect beside a read, real agent",
          variant: real.effect,
          ratio: "latency_ratio",
          atMost: 2.5,
        },
      ],
    },
  ];
}

/** Beside a reverse tunnel of OpenSSH, where there is one. */
async function tunnelGroups(
  processes: Processes,
  ours: Variant,
  shapes: ReturnType<typeof shapesOf>,
  say: (line: string) => void,
): Promise<Group[]> {
  const why = noSshServer();
  say(why ? `Left out: the ssh tunnel. ${why}` : "Starting: an ssh tunnel");
  if (why) return [];
  const tunnel = await sshTunnel(processes);
  return [
    {
      title: "Beside an ssh tunnel",
      base: tunnel,
      variants: [tunnel, ours],
      shapes: [shapes.one, shapes.many],
      aims: [{ what: "latency beside the ssh tunnel", variant: ours, ratio: "latency_ratio", atMost: 1.3 }],
    },
  ];
}
