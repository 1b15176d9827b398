/** A Durable Object relay without checks (bench/raw), on the same workerd as ours. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { emptyWork, longWork } from "../frames.ts";
import { httpLine } from "../http-line.ts";
import type { Processes } from "../processes.ts";
import { socketLine } from "../socket-line.ts";
import type { Variant } from "../variant.ts";
import { serveWorkerd } from "../workerd.ts";

export async function rawObject(
  processes: Processes,
): Promise<{ socket: Variant; rest: Variant; long: Variant }> {
  const objects = join(processes.folder, "raw");
  mkdirSync(objects);
  const config = fileURLToPath(new URL("../raw/relay.capnp", import.meta.url));
  const { pid, port } = await serveWorkerd(processes, config, objects);
  const url = `ws://127.0.0.1:${port}`;
  await processes.start("device", { relay: `${url}/device` });
  const work = emptyWork("Read");
  return {
    socket: { name: "raw object", line: await socketLine(`${url}/call`, work), relay: pid },
    long: { name: "raw object", line: await socketLine(`${url}/call`, longWork()), relay: pid },
    rest: { name: "raw object", line: httpLine({ port, path: "/call" }, work), relay: pid },
  };
}
