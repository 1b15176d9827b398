/** What a fleet dials: ours, or a bare relay in Node. Either can be killed as a crash would, and started again. */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Processes, Program } from "../processes.ts";
import { serveWorkerd } from "../workerd.ts";
import type { FleetDevice } from "./devices.ts";

export interface Home {
  readonly name: string;
  readonly url: string;
  pid: number;
  restart(): Promise<void>;
}

/** Devices adopted by one request. */
const AT_ONCE = 200;

export async function ours(processes: Processes, devices: readonly FleetDevice[]): Promise<Home> {
  const home = await startHome("ours", processes, served(processes, "relay.capnp", secrets()));
  for (let from = 0; from < devices.length; from += AT_ONCE) {
    const some = devices.slice(from, from + AT_ONCE).map(({ id, publicKey }) => ({ id, publicKey }));
    const answer = await fetch(`${home.url}/bench/adopt`, { method: "POST", body: JSON.stringify(some) });
    if (!answer.ok) throw new Error(`adopting: ${answer.status} ${await answer.text()}`);
  }
  // Adopting woke every object; a new process has none in memory.
  await home.restart();
  return home;
}

export function raw(processes: Processes): Promise<Home> {
  return startHome("raw objects", processes, served(processes, "raw.capnp", {}));
}

export function node(processes: Processes): Promise<Home> {
  return startHome("Node ws relay", processes, (port) => processes.start("node-home", { port }));
}

async function startHome(
  name: string,
  processes: Processes,
  serve: (port: number) => Promise<Program>,
): Promise<Home> {
  const { pid, port } = await serve(0);
  const home: Home = {
    name,
    pid,
    url: `http://127.0.0.1:${port}`,
    restart: async () => {
      await processes.kill(home.pid);
      home.pid = (await serve(port)).pid;
    },
  };
  return home;
}

/** How workerd is started on a configuration of this folder; its data stays where it is. */
function served(processes: Processes, config: string, env: NodeJS.ProcessEnv) {
  const objects = join(processes.folder, config);
  mkdirSync(objects);
  const path = fileURLToPath(new URL(config, import.meta.url));
  return (port: number) => serveWorkerd(processes, path, objects, { port, env });
}

function secrets(): NodeJS.ProcessEnv {
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = { ...privateKey.export({ format: "jwk" }), kid: "bench", alg: "EdDSA", use: "sig" };
  return { RELAY_KEYS: JSON.stringify({ keys: [key] }), CLAIM_SECRET: randomBytes(32).toString("base64url") };
}
