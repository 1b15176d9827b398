/**
 * Our relay in front of the real agent, `matrx up`: reading a tiny file, and creating a directory that is there. Neither
 * changes anything, and their own work takes equally long, so the difference is the ledger and the journal.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { homeOf, makeHome } from "../../agent/config/app-dirs.ts";
import { writeConfig } from "../../agent/config/config.ts";
import { writeIdentity } from "../../agent/config/identity.ts";
import { MATRX_BIN } from "../../scripts/matrx-bin.ts";
import type { Work } from "../frames.ts";
import { type Processes, pidOf } from "../processes.ts";
import type { Variant } from "../variant.ts";
import { AFTERMATH, callLine, type OurRelay } from "./ours.ts";

const CONNECTED_WITHIN = 10_000;

export async function agent(
  processes: Processes,
  relay: OurRelay,
): Promise<{ read: Variant; effect: Variant }> {
  const { device } = await startAgent(processes, relay, join(processes.folder, "agent"));
  const file = join(processes.folder, "tiny.txt");
  writeFileSync(file, "hello\n");
  // Each folder on the way costs the same: at four more, this one costs as much as opening and reading the file.
  const folder = join(processes.folder, "a", "b", "c", "d");
  mkdirSync(folder, { recursive: true });
  const variant = async (work: Work): Promise<Variant> => {
    return { name: `agent, ${work.tool}`, line: await callLine(relay, device, work), relay: relay.pid };
  };
  const read = await variant({ tool: "Read", input: { file_path: file } });
  await untilConnected(() => read.line.call());
  const effect = await variant({ tool: "create_directory", input: { path: folder } });
  return { read, effect: { ...effect, aftermath: AFTERMATH } };
}

/** Pairs the real agent and starts it, with its files in `folder`. It may take a moment to connect. */
export async function startAgent(
  processes: Processes,
  relay: OurRelay,
  folder: string,
): Promise<{ device: string; pid: number }> {
  const { id, identity } = await relay.owner.pairDevice("bench-agent");
  const env = { ...process.env, MATRX_HOME: folder, MATRX_PROTECTED: folder };
  const home = homeOf(env);
  makeHome(home);
  writeIdentity(home, identity);
  writeConfig(home, { relay: relay.url, device_id: id, name: "bench-agent", log_level: "error" });
  const child = processes.spawn(process.execPath, [MATRX_BIN, "up"], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return { device: id, pid: pidOf(child, "the agent") };
}

/** Calls until the agent answers. */
export async function untilConnected(call: () => Promise<void>): Promise<void> {
  for (const start = performance.now(); ; await sleep(100)) {
    try {
      return await call();
    } catch (error) {
      if (performance.now() - start > CONNECTED_WITHIN) throw error;
    }
  }
}
