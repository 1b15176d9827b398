/** What the program of before there were versions stored (test/fixtures/record.ts) is taken up by relay and agent of today. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { serialize } from "node:v8";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import {
  callListSchema,
  callViewSchema,
  deviceListSchema,
  deviceViewSchema,
  eventListSchema,
} from "../../shared/api.ts";
import { tokenListSchema } from "../../shared/token-api.ts";
import { AUDIENCE } from "../../shared/tokens.ts";
import { signToken } from "../../worker/auth/keys.ts";
import { layOut } from "../fixtures/recorded.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { databasesOf } from "../helpers/stored.ts";
import { type Agent, startAgent } from "./agent.ts";
import { invoke } from "./caller.ts";
import { processesOf } from "./processes.ts";

const RECORDING = join(import.meta.dirname, "../fixtures/before-versions");

let dataDir: string;
let relay: TestRelay & AsyncDisposable;
let agent: Agent;
/** The token that was recorded, signed anew: it would be over one day. */
let token: string;
let device: string;

beforeAll(async () => {
  dataDir = makeFolder();
  layOut(RECORDING, dataDir);
  relay = await startRelay({ dataDir });
  const session = await relay.signIn();
  const { tokens } = await relay.request(session, "GET /v1/tokens", tokenListSchema);
  const script = tokens.find(({ name }) => name === "script");
  const claims = { account: "owner", subject: script?.id ?? "", id: crypto.randomUUID() };
  const secrets = { RELAY_KEYS: relay.secrets.relayKeys, CLAIM_SECRET: relay.secrets.claimSecret };
  token = await signToken(secrets, AUDIENCE.caller, claims, 3600);
  const configFile = join(dataDir, "agent", "config.json");
  const config = JSON.parse(readFileSync(configFile, "utf8")) as { device_id: string };
  writeFileSync(configFile, JSON.stringify({ ...config, relay: relay.url }));
  device = config.device_id;
});

afterAll(async () => {
  await agent?.child.stop(5000);
  await relay?.stop();
  expect(processesOf(dataDir)).toEqual([]);
  removeFolder(dataDir);
});

const get = <Schema extends z.ZodType>(path: `/${string}`, schema: Schema) =>
  relay.request({ token }, `GET ${path}`, schema);

it("lists what was there: devices, policy, calls with their outcomes, events", async () => {
  const { devices } = await get("/v1/devices", deviceListSchema);
  expect(devices.map(({ name, hostname }) => [name, hostname])).toEqual([
    ["laptop", "laptop"],
    ["shed", "shed"],
  ]);
  expect(devices.find(({ name }) => name === "shed")?.last_seen).toMatch(/Z$/);
  const { calls } = await get(`/v1/devices/${device}/calls`, callListSchema);
  expect(calls.map(({ state }) => state)).toEqual(["accepted", "finished", "finished"]);
  const first = await get(`/v1/devices/${device}/calls/${calls.at(-1)?.call}`, callViewSchema);
  expect(first.outcome).toMatchObject({ type: "success", output: "first\n" });
  const shed = devices.find(({ name }) => name === "shed")?.id;
  const { events } = await get(`/v1/devices/${shed}/events`, eventListSchema);
  expect(events).toMatchObject([
    { event_type: "low_disk_space", data: { percent: 97 }, open: true },
    { event_type: "error_occurred", data: { text: "the pump stopped" } },
  ]);
  const policy = await get(`/v1/devices/${device}/policy`, z.looseObject({}));
  expect(policy).toMatchObject({ allowed_tools: ["Bash", "Read", "Write", "SystemInfo"] });
});

it("goes on with a call that ended while the relay was away", async () => {
  const { calls } = await get(`/v1/devices/${device}/calls`, callListSchema);
  agent = await startAgent(dataDir);
  await agent.registered();
  const path = `/v1/devices/${device}/calls/${calls[0]?.call}` as const;
  await expect.poll(async () => (await get(path, callViewSchema)).state).toBe("finished");
  expect((await get(path, callViewSchema)).outcome).toMatchObject({ type: "success", output: "late\n" });
});

it("remembers idempotency keys, and runs nothing a second time", async () => {
  const base = `${relay.url}/v1/devices/${device}`;
  const { calls } = await get(`/v1/devices/${device}/calls`, callListSchema);
  const bash = (command: string, idempotency_key: string) =>
    invoke(base, token, { tool: "Bash", input: { command }, idempotency_key });
  expect(await bash("echo first", "first")).toMatchObject({ output: "first\n", call: calls.at(-1)?.call });
  expect(await bash("sleep 2; echo late", "late")).toMatchObject({ output: "late\n", call: calls[0]?.call });
  expect(await bash("echo other", "first")).toMatchObject({ code: "CONFLICT" });
  expect(await bash("echo new", "new")).toMatchObject({ type: "success", output: "new\n" });
  const view = await get(`/v1/devices/${device}`, deviceViewSchema);
  expect(view).toMatchObject({ state: "ONLINE", records_lost: null });
});

it("is refused to an older relay once a newer one was there, and works again with the newer one", async () => {
  const { port } = relay;
  /** As a newer relay leaves the devices' data; returns what takes that back. */
  const leaveNewer = () => {
    const version = "WHERE key = 'schema_version'";
    const undo = databasesOf(dataDir, "Device").map((database) => {
      const db = new DatabaseSync(database);
      // A removed device left an empty one.
      if (!db.prepare("SELECT 1 FROM sqlite_master WHERE name = '_cf_KV'").get()) return () => db.close();
      const before = db.prepare(`SELECT value FROM _cf_KV ${version}`).get()?.value ?? null;
      const set = db.prepare(`UPDATE _cf_KV SET value = ? ${version}`);
      set.run(serialize(99));
      return () => {
        set.run(before);
        db.close();
      };
    });
    return () => {
      for (const step of undo) step();
    };
  };
  const times = (wanted: string) => agent.states.filter((state) => state === wanted).length;
  const registered = times("REGISTERED");
  await relay.stop();
  const undo = leaveNewer();
  relay = await startRelay({ dataDir, port });
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(`${relay.url}/v1/devices/${device}`, { headers });
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ code: "UNAVAILABLE", storage: "newer" });
  // The agent hears the same, and goes on trying.
  const tries = times("RECONNECTING");
  await expect.poll(() => times("RECONNECTING")).toBeGreaterThan(tries + 1);
  await relay.stop();
  undo();
  relay = await startRelay({ dataDir, port });
  await agent.registered(registered);
  const { calls } = await get(`/v1/devices/${device}/calls`, callListSchema);
  expect(calls).toHaveLength(4);
});
