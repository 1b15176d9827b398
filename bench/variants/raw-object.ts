/** A Durable Object relay without checks (bench/raw), on the same workerd as ours. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { emptyWork, longWork } from "../frames.ts";
import { httpLine } from "../http-line.ts";
import type { Processes, Program } from "../processes.ts";
import { socketLine } from "../socket-line.ts";
import type { Variant } from "../variant.ts";
import { serveWorkerd } from "../workerd.ts";

export async function rawObject(processes: Processes): Promise<{ socket: Variant; rest: Variant }> {
  const { pid, port } = await startRaw(processes, "raw");
  const work = emptyWork("Read");
  return {
    socket: { name: "raw object", line: await socketLine(`ws://127.0.0.1:${port}/call`, work), relay: pid },
    rest: { name: "raw object", line: httpLine({ port, path: "/call" }, work), relay: pid },
  };
}

/** Results of 1 MiB, through a process of their own: what other calls leave to be collected is not theirs. */
export async function rawObjectLong(processes: Processes): Promise<Variant> {
  const { pid, port } = await startRaw(processes, "raw-long");
  const line = await socketLine(`ws://127.0.0.1:${port}/call`, longWork());
  return { name: "raw object", line, relay: pid };
}

/** The relay, with a device that does no work. */
async function startRaw(processes: Processes, folder: string): Promise<Program> {
  const objects = join(processes.folder, folder);
  mkdirSync(objects);
  const config = fileURLToPath(new URL("../raw/relay.capnp", import.meta.url));
  const relay = await serveWorkerd(processes, config, objects);
  await processes.start("device", { relay: `ws://127.0.0.1:${relay.port}/device` });
  return relay;
}
