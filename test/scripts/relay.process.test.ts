import { get } from "node:http";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { listenAt } from "../../agent/local/loopback.ts";
import { signIn } from "../../scripts/start/owner.ts";
import { isAlive } from "../../scripts/start/process.ts";
import { accountViewSchema, createdDeviceSchema } from "../../shared/api.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { LOCALHOST } from "../helpers/localhost.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";

/** That a port is in use by this test's own process, whatever the system calls it. */
function heldHere(port: number): RegExp {
  return new RegExp(`Port ${port} is in use by \\S.* \\(process ${process.pid}\\): stop it`);
}

async function running(options: Parameters<typeof startRelay>[0] = {}): Promise<TestRelay> {
  const relay = await startRelay(options);
  onTestFinished(() => relay.stop());
  return relay;
}

/** Status of a request with a Host header of its own, which `fetch` does not allow. */
function statusFor({ port }: TestRelay, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = get({ host: "127.0.0.1", port, path: "/v1/health", headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on("error", reject);
  });
}

test("it answers to its own hosts and its public address's, and to no other", async () => {
  const relay = await running({ publicUrl: "https://relay.example" });
  const hosts = [`localhost:${relay.port}`, `127.0.0.1:${relay.port}`, "relay.example", "evil.example"];
  expect(await Promise.all(hosts.map((host) => statusFor(relay, host)))).toEqual([200, 200, 200, 403]);
});

test.each(LOCALHOST)("%s is the relay's, so that nobody else answers there at localhost", async (address) => {
  const relay = await running();
  const url = `http://${address.includes(":") ? `[${address}]` : address}:${relay.port}`;
  expect((await fetch(`${url}/v1/health`)).status).toBe(200);
  await expect(listenAt(createServer(), address, relay.port)).rejects.toMatchObject({ code: "EADDRINUSE" });
});

test.each(LOCALHOST)("no relay starts on a port that another program has at %s", async (address) => {
  const other = createServer();
  onTestFinished(() => void other.close());
  const port = await listenAt(other, address, 0);
  await expect(startRelay({ port })).rejects.toThrow(heldHere(port));
});

test.each(LOCALHOST)(
  "a relay that died says who took its port at %s, and is back once it is free",
  async (address) => {
    const deaths: string[] = [];
    const relay = await running({ onDeath: (how) => deaths.push(how) });
    const squatter = createServer();
    onTestFinished(() => void squatter.close());
    process.kill(relay.pid ?? 0, "SIGKILL");
    await expect.poll(() => deaths).toHaveLength(1);
    await listenAt(squatter, address, relay.port);
    const others = LOCALHOST.filter((other) => other !== address);
    await expect.poll(() => deaths[1], { timeout: 10_000 }).toMatch(heldHere(relay.port));
    for (const other of others) {
      const url = `http://${other.includes(":") ? `[${other}]` : other}:${relay.port}`;
      await expect(fetch(url)).rejects.toThrow();
    }
    await new Promise((resolve) => squatter.close(resolve));
    await relay.ready();
  },
);

test("a token outlives a crash of the relay, and the relay comes back by itself", async () => {
  const relay = await running();
  const token = await relay.token();
  const before = relay.pid;
  await relay.kill();
  await relay.ready();
  expect(relay.pid).not.toBe(before);
  const account = await relay.request({ token }, "GET /v1/account", accountViewSchema);
  expect(account).toMatchObject({ account: "owner", kind: "api", person: false });
});

test("a stopped relay leaves no process, though a device is connected", async () => {
  const relay = await startRelay();
  const owner = await relay.signIn();
  const { device } = await relay.request(owner, "POST /v1/devices", createdDeviceSchema, { name: "bare" });
  const socket = new WebSocket(`${relay.url.replace("http", "ws")}/v1/device/ws?device=${device.id}`);
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  const closed = new Promise((resolve) => socket.addEventListener("close", resolve));
  const { pid = 0 } = relay;
  await relay.stop();
  await closed;
  expect(isAlive(pid)).toBe(false);
});

test("data stays where it was when the relay starts again on another port", async () => {
  const dataDir = temporaryFolder();
  const first = await running({ dataDir });
  const token = await first.token();
  await first.stop();
  const second = await running({ dataDir });
  expect(await second.request({ token }, "GET /v1/devices", z.unknown())).toEqual({ devices: [] });
});

test("a claim code signs in once", async () => {
  const relay = await running();
  const code = await relay.claimCode();
  const claim = () => signIn({ url: relay.url, claimCode: async () => code });
  expect(await claim()).toHaveProperty("token");
  await expect(claim()).rejects.toThrow("already been used");
});

test("the page is served with headers that let nothing foreign run", async () => {
  const relay = await running();
  const response = await fetch(`${relay.url}/`);
  expect(response.headers.get("Content-Security-Policy")).toContain("frame-ancestors 'none'");
  expect(await response.text()).toContain("<title>Matrx Relay</title>");
  for (const path of ["/../package.json", "/%2e%2e/package.json", "/.matrx/keys.json", "//", "/icon.svg/"]) {
    expect([path, (await fetch(`${relay.url}${path}`)).status]).toEqual([path, 404]);
  }
});

test("an address that leads nowhere is told to people by the app, and to programs as a problem", async () => {
  const relay = await running();
  const typeOf = async (headers: Record<string, string>) => {
    const response = await fetch(`${relay.url}/nowhere`, { headers });
    expect(response.status).toBe(404);
    return response.headers.get("Content-Type");
  };
  expect(await typeOf({ "Sec-Fetch-Dest": "document" })).toMatch(/^text\/html/);
  expect(await typeOf({})).toBe("application/problem+json");
});
