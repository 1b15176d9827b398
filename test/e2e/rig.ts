/** A real relay, a real agent paired with it, and a line between them that can be cut. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { ensurePaired } from "../../scripts/start/pairing.ts";
import { type CallView, callViewSchema, deviceViewSchema } from "../../shared/api.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { type Agent, startAgent } from "./agent.ts";
import { Line } from "./line.ts";
import { processesOf } from "./processes.ts";

export interface Rig {
  relay: TestRelay;
  readonly line: Line;
  readonly device: string;
  /** The guide base of the device. */
  readonly base: string;
  /** An owner's API token. */
  readonly token: string;
  /** Where commands may leave files. */
  readonly folder: string;
  /** Where agent and relay keep theirs. */
  readonly dataDir: string;
  agent: Agent;
  isOnline(): Promise<boolean>;
  /** Kills the relay, changes what it stored, and starts it again at the same address. */
  restartRelay(change: () => void | Promise<void>): Promise<void>;
  /** Ends all of it; throws if anything of it is left. */
  stop(): Promise<void>;
}

const silent = () => undefined;

/** `prepare` may put the folder of the relay's data in its place before the relay starts. */
export async function startRig(prepare?: (dataDir: string) => void): Promise<Rig> {
  const [dataDir, folder, line] = [makeFolder(), makeFolder(), await Line.open()];
  prepare?.(dataDir);
  const publicUrl = `http://localhost:${line.port}`;
  const relay = await startRelay({ dataDir, publicUrl });
  line.leadTo(relay.port);
  const token = await relay.token();
  const throughLine = { ...relay, url: publicUrl };
  const { device_id: device } = await ensurePaired(throughLine, token, new AbortController().signal, silent);
  const rig: Rig = {
    ...{ relay, line, device, token, folder, dataDir },
    base: `${relay.url}/v1/devices/${device}`,
    agent: await startAgent(dataDir),
    async isOnline() {
      const view = await rig.relay.request({ token }, `GET /v1/devices/${device}`, deviceViewSchema);
      return view.state === "ONLINE";
    },
    async restartRelay(change) {
      const { port } = rig.relay;
      await rig.relay.stop();
      await change();
      rig.relay = await startRelay({ dataDir, publicUrl, port });
    },
    async stop() {
      await rig.agent.child.stop(5000);
      await rig.relay.stop();
      await line.close();
      const left = [...processesOf(dataDir), ...processesOf(folder)];
      for (const place of [dataDir, folder]) removeFolder(place);
      expect(left).toEqual([]);
      expect([dataDir, folder].filter((place) => existsSync(place))).toEqual([]);
    },
  };
  await rig.agent.registered();
  return rig;
}

/** A name in the rig's folder that no other test uses. */
export function fileIn({ folder }: Rig): string {
  return join(folder, `${crypto.randomUUID()}.txt`);
}

export function linesOf(file: string): string[] {
  return readFileSync(file, "utf8").trimEnd().split("\n");
}

/** The record of a call. */
export function recordOf({ relay, token, device }: Rig, call: string | undefined): Promise<CallView> {
  return relay.request({ token }, `GET /v1/devices/${device}/calls/${call}`, callViewSchema);
}
