/** What the relay stored is damaged, emptied or older: that is said, and no machine is paired anew by itself. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { request as get } from "node:http";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { orphansOf } from "../../scripts/start/orphans.ts";
import { request } from "../../scripts/start/owner.ts";
import { ensurePaired } from "../../scripts/start/pairing.ts";
import { openToken } from "../../scripts/start/token.ts";
import { deviceListSchema } from "../../shared/api.ts";
import { makeFolder, removeFolder, temporaryFolder } from "../helpers/folder.ts";
import { launch } from "../helpers/launcher.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { databaseOf } from "../helpers/stored.ts";

const silent = () => undefined;
const never = new AbortController().signal;

/** The data of a relay with this machine paired, as it lies on the disk after the power went. */
let kept: string;
let device: string;
beforeAll(async () => {
  kept = makeFolder();
  const relay = await startRelay({ dataDir: kept });
  const token = await openToken(relay, silent);
  device = (await ensurePaired(relay, token, never, silent)).device_id;
  await relay.kill();
  await relay.stop();
  return () => removeFolder(kept);
});

function copy(): string {
  const dataDir = join(temporaryFolder(), "data");
  cpSync(kept, dataDir, { recursive: true });
  rmSync(join(dataDir, "relay.pid"), { force: true });
  return dataDir;
}

async function start(dataDir: string): Promise<TestRelay> {
  const relay = await startRelay({ dataDir });
  onTestFinished(() => relay.stop());
  return relay;
}

const WITHOUT_LOG = (database: string) => {
  for (const suffix of ["-wal", "-shm"]) rmSync(database + suffix, { force: true });
};
const GARBAGE = (database: string) => {
  writeFileSync(database, "this is no database".repeat(500));
  WITHOUT_LOG(database);
};
const EMPTIED = (database: string) => {
  truncateSync(database, 0);
  WITHOUT_LOG(database);
};
const DELETED = (database: string) => {
  rmSync(database);
  WITHOUT_LOG(database);
};

test("the data folder is deleted while it runs: that is said with its name, and everything ends", async () => {
  const dataDir = copy();
  const launcher = launch(dataDir);
  await launcher.curlLine();
  rmSync(dataDir, { recursive: true });
  expect(await launcher.exit).toBe(1);
  expect(launcher.output().trimEnd().split("\n").at(-1)).toMatch(
    `The data folder ${dataDir} was deleted or replaced while the relay ran`,
  );
  expect(launcher.output()).not.toMatch(/^\s+at /m);
  expect(orphansOf(dataDir, {})).toEqual([]);
});

test("a relay that died does not start anew on a folder that was emptied meanwhile", async () => {
  const dataDir = copy();
  const deaths: string[] = [];
  const relay = await startRelay({ dataDir, onDeath: (how) => deaths.push(how) });
  onTestFinished(() => relay.stop());
  for (const entry of readdirSync(dataDir)) rmSync(join(dataDir, entry), { recursive: true });
  await relay.kill();
  await expect.poll(() => deaths.at(-1)).toContain(`The data folder ${dataDir} was deleted or replaced`);
  expect(readdirSync(dataDir)).toEqual([]);
});

describe.each([
  ["Device", "garbage", GARBAGE],
  ["Device", "emptied", EMPTIED],
  ["Device", "deleted", DELETED],
  ["Device", "without its log of writes", WITHOUT_LOG],
  ["Account", "garbage", GARBAGE],
  ["Account", "emptied", EMPTIED],
  ["Directory", "garbage", GARBAGE],
  ["Directory", "emptied", EMPTIED],
])("a database of %s, %s", (className, _how, damage) => {
  test("is said to be damaged, and the machine is not paired anew", async () => {
    const dataDir = copy();
    damage(databaseOf(dataDir, className));
    const relay = await start(dataDir);
    const config = readFileSync(join(dataDir, "agent/config.json"), "utf8");
    const lines: string[] = [];
    const pairing = openToken(relay, silent).then((token) =>
      ensurePaired(relay, token, never, (line) => lines.push(line)),
    );
    await expect(pairing).rejects.toThrow(/damaged/);
    expect(lines).toEqual([]);
    expect(readFileSync(join(dataDir, "agent/config.json"), "utf8")).toBe(config);
  });
});

test.each(["Account", "Device", "Directory", "Pairing"])(
  "a database that the relay opens as it starts, garbage (%s): that is said, and where",
  async (className) => {
    const dataDir = copy();
    GARBAGE(join(dataDir, `objects/relay-${className}/metadata.sqlite`));
    await expect(startRelay({ dataDir })).rejects.toThrow(
      `The relay found a damaged database in ${join(dataDir, "objects")}: bring that folder back from a backup`,
    );
  },
);

test("a device whose record is gone is named apart in lists, and may be removed; its agent goes on dialling", async () => {
  const dataDir = copy();
  EMPTIED(databaseOf(dataDir, "Device"));
  const relay = await start(dataDir);
  const owner = await relay.signIn();
  const list = () => relay.request(owner, "GET /v1/devices", deviceListSchema);
  expect(await list()).toEqual({ devices: [], unreadable: [{ id: device, name: expect.any(String) }] });

  const upgrade = { Upgrade: "websocket", Connection: "Upgrade", "Sec-WebSocket-Version": "13" };
  const status = await upgradeStatus(relay, `/v1/device/ws?device=${device}`, upgrade);
  expect(status).toBe(503);
  const call = request(relay, owner, `POST /v1/devices/${device}/tools/SystemInfo`, z.unknown(), {});
  await expect(call).rejects.toMatchObject({
    problem: { code: "UNAVAILABLE", storage: "lost", hop: "relay" },
  });

  await relay.request(owner, `DELETE /v1/devices/${device}`, z.unknown());
  expect(await list()).toEqual({ devices: [] });
  const gone = relay.request(owner, `GET /v1/devices/${device}`, z.unknown());
  await expect(gone).rejects.toMatchObject({
    problem: { code: "UNKNOWN_DEVICE", removed: expect.stringMatching(/Z$/) },
  });
});

test("npm start ends with what to do; with the backup back in its place it starts as before", {
  timeout: 60_000,
}, async () => {
  const dataDir = copy();
  const database = databaseOf(dataDir, "Device");
  EMPTIED(database);
  const damaged = launch(dataDir);
  expect(await damaged.exit).toBe(1);
  const said = damaged.output();
  expect(said).toMatch(/damaged or emptied[\s\S]*from a backup[\s\S]*policy/);
  expect(said).toContain(join(dataDir, "objects"));
  expect(said).not.toMatch(/was removed|Pairing/);
  expect(existsSync(join(dataDir, "agent/config.json"))).toBe(true);

  rmSync(join(dataDir, "objects"), { recursive: true });
  cpSync(join(kept, "objects"), join(dataDir, "objects"), { recursive: true });
  expect(await launch(dataDir).curlLine()).toContain(device);
});

/** Node's `fetch` upgrades nothing. */
function upgradeStatus({ port }: TestRelay, path: string, headers: Record<string, string>) {
  return new Promise((resolve, reject) => {
    const key = { "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==" };
    const asking = get({ host: "localhost", port, path, headers: { ...headers, ...key } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asking.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response.statusCode);
    });
    asking.on("error", reject).end();
  });
}
