/** The machines of the pictures: one that works, one that is paused, one that is offline, and a program of one's own. */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import * as z from "zod";
import { MATRX_BIN } from "../../scripts/matrx-bin.ts";
import { agentEnvironment } from "../../scripts/start/agent.ts";
import { createdDeviceSchema, deviceListSchema, deviceViewSchema } from "../../shared/api.ts";
import { makeEventId } from "../../shared/ids.ts";
import { tokenListSchema } from "../../shared/token-api.ts";
import { BareDevice } from "../conformance/bare-device.mjs";
import { endHolders } from "../e2e/holders.ts";
import { connectMachine } from "../helpers/machine.ts";
import type { TestRelay } from "../helpers/relay.ts";

const run = promisify(execFile);

export interface Machines {
  readonly studio: string;
  readonly nas: string;
  /** It is never online. */
  readonly laptop: string;
  readonly greenhouse: string;
}

/** Starts them; they stop with `stack`. `folder`: of the greenhouse's program. */
export async function startMachines(
  relay: TestRelay,
  folder: string,
  stack: AsyncDisposableStack,
): Promise<Machines> {
  const owner = await relay.signIn();
  const machine = async (name: string, tags: readonly string[]) => {
    const dataDir = join(relay.dataDir, name);
    mkdirSync(dataDir);
    const { id, agent } = await connectMachine({ ...relay, dataDir });
    // Terminals outlive the agent.
    stack.defer(() => endHolders(dataDir));
    stack.defer(() => agent.stop());
    await relay.request(owner, `PATCH /v1/devices/${id}`, deviceViewSchema, { name, tags });
    return { id, agent, dataDir };
  };
  const studio = await machine("studio", ["home", "work"]);
  const nas = await machine("nas", ["home", "storage"]);
  await run(process.execPath, [MATRX_BIN, "pause", "--ai"], { env: agentEnvironment(nas.dataDir) });
  const laptop = await machine("laptop", ["work"]);
  await laptop.agent.stop();
  await revokeTokens(relay);
  const { id, device } = await bareMachine(relay, "greenhouse", folder);
  await relay.request(owner, `PATCH /v1/devices/${id}`, deviceViewSchema, { tags: ["home"] });
  report(device);
  stack.defer(() => device.vanish());
  return { studio: studio.id, nas: nas.id, laptop: laptop.id, greenhouse: id };
}

/** Those that pairing took: nobody has such tokens. */
async function revokeTokens(relay: TestRelay): Promise<void> {
  const owner = await relay.signIn();
  const { tokens } = await relay.request(owner, "GET /v1/tokens", tokenListSchema);
  for (const { id, name } of tokens)
    if (name === "test") await relay.request(owner, `DELETE /v1/tokens/${id}`, z.unknown());
}

/** A program of one's own, connected. Whoever makes it calls its `vanish`. */
async function bareMachine(
  relay: TestRelay,
  name: string,
  root: string,
): Promise<{ id: string; device: BareDevice }> {
  const owner = await relay.signIn();
  const created = await relay.request(owner, "POST /v1/devices", createdDeviceSchema, { name });
  const { id } = created.device;
  const url = `${relay.url.replace(/^http/, "ws")}/v1/device/ws?device=${id}`;
  const device = new BareDevice({ url, deviceId: id, token: created.token, root });
  device.on("fault", () => undefined);
  const isRegistered = new Promise<void>((resolve) =>
    device.on("message", ({ type }) => type === "device_registered" && resolve()),
  );
  device.connect();
  await isRegistered;
  return { id, device };
}

/** Removes those of this name from the account. */
export async function removeMachines(relay: TestRelay, wanted: string): Promise<void> {
  const owner = await relay.signIn();
  const { devices } = await relay.request(owner, "GET /v1/devices", deviceListSchema);
  for (const { id, name } of devices)
    if (name === wanted) await relay.request(owner, `DELETE /v1/devices/${id}`, z.unknown());
}

function report(device: BareDevice): void {
  const say = (event_type: string, severity: string, data: Record<string, unknown>, more = {}) =>
    device.send("event", { event_type, severity, data, id: makeEventId(), ...more });
  say("pump_started", "info", { bed: "tomatoes", minutes: 12 });
  say("temperature", "info", { inside: 24.5, outside: 17.1, unit: "°C" });
  say("low_disk_space", "critical", { drive: "/", free_gb: 1.2 }, { key: "/" });
  say("door_open", "warning", { door: "north", since: "06:40" }, { key: "north" });
  say("frost_expected", "warning", { at: "04:00", low: -1 });
}
