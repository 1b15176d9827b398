import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { importJWK, jwtVerify } from "jose";
import { expect, onTestFinished, test, vi } from "vitest";
import { runAgent } from "../../../agent/agent.ts";
import { Heartbeat } from "../../../agent/heartbeat.ts";
import { makeIdentity } from "../../../agent/identity.ts";
import { silentLog, smallToolbox } from "../dispatch/small-tools.ts";
import { startScriptedRelay } from "./scripted-relay.ts";
import { DEVICE, startAgent } from "./start-agent.ts";

test("it dials, signs the nonce for the host it dialled, and registers", async () => {
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url);
  const socket = await relay.connection();
  expect(socket.url).toBe(`/v1/device/ws?device=${DEVICE}`);
  const frame = await socket.register();
  expect(frame).toMatchObject({
    ...{ device_id: DEVICE, protocol: 1, os: expect.any(String), hostname: expect.any(String) },
    ...{
      manifest_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      journal_id: expect.stringMatching(/^journal_/),
    },
    capabilities: { file_operations: true, app_control: false, voice: false, homelab: false },
    metadata: { cpu: expect.any(String), ram_gb: expect.any(Number), disk_gb: expect.any(Number) },
  });
  const key = await importJWK({ kty: "OKP", crv: "Ed25519", x: agent.publicKey }, "EdDSA");
  const { payload, protectedHeader } = await jwtVerify(String(frame.auth_token).replace("Bearer ", ""), key);
  expect(protectedHeader).toEqual({ alg: "EdDSA" });
  expect(payload).toEqual({ iss: DEVICE, aud: new URL(relay.url).host, nonce: socket.nonce });
  await agent.stop();
  expect(agent.states).toEqual(["CONNECTING", "CONNECTED", "REGISTERING", "REGISTERED", "DISCONNECTED"]);
});

test("the manifest is sent when it is wanted", async () => {
  const relay = await startScriptedRelay();
  startAgent(relay.url);
  const socket = await relay.connection();
  const { manifest_hash } = await socket.register({ manifest_wanted: true });
  const frame = await socket.texts.next();
  expect(frame).toMatchObject({ type: "manifest", hash: manifest_hash });
  const tools = frame.type === "manifest" ? frame.tools : [];
  expect(tools.map(({ name, effect }) => [name, effect])).toEqual([
    ["Bash", "execute"],
    ["Grep", "read"],
    ["Read", "read"],
    ["Write", "write"],
  ]);
  expect(tools[2]?.input_schema).toMatchObject({
    type: "object",
    required: ["file_path"],
    additionalProperties: false,
  });
});

test("after a loss it dials again", async () => {
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url);
  const first = await relay.connection();
  await first.register();
  first.socket.terminate();
  const second = await relay.connection();
  await second.register();
  expect(second.nonce).not.toBe(first.nonce);
  expect(agent.states).toContain("RECONNECTING");
  await agent.stop();
});

test("a relay that is not there yet is dialled until it is", async () => {
  const first = await startScriptedRelay();
  const port = Number(new URL(first.url).port);
  await first.close();
  const agent = startAgent(first.url);
  while (agent.states.filter((state) => state === "RECONNECTING").length < 3) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const relay = await startScriptedRelay(port);
  await (await relay.connection()).register();
  await agent.stop();
});

test.each([
  [4000, "CONFLICT", /took over/],
  [4401, "UNAUTHENTICATED", /did not accept/],
  [4403, "PERMISSION_DENIED", /revoked/],
  [4404, "UNKNOWN_DEVICE", /does not know/],
])("close code %i is final: %s", async (closeCode, code, sentence) => {
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url);
  const socket = await relay.connection();
  await socket.register();
  socket.socket.close(closeCode, "said so");
  expect(await agent.end).toMatchObject({
    code,
    message: expect.stringMatching(sentence),
    details: { relay_said: "said so" },
  });
  expect(relay.dials).toBe(1);
});

test.each([
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "UNKNOWN_DEVICE"],
])("HTTP %i at the upgrade is final: %s", async (status, code) => {
  const relay = await startScriptedRelay();
  relay.refuseWith(status, "no such device");
  const agent = startAgent(relay.url);
  expect(await agent.end).toMatchObject({ code, details: { relay_said: "no such device" } });
  expect(relay.dials).toBe(1);
});

test.each([503, 429, 302, 200])("HTTP %i at the upgrade is tried again", async (status) => {
  const relay = await startScriptedRelay();
  relay.refuseWith(status);
  const agent = startAgent(relay.url);
  while (relay.dials < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  relay.refuseWith(undefined);
  await (await relay.connection()).register();
  await agent.stop();
});

test("close codes that are not final are tried again", async () => {
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url);
  for (const code of [1001, 1011, 1013]) (await relay.connection()).socket.close(code);
  await (await relay.connection()).register();
  await agent.stop();
});

test("a heartbeat that is answered keeps the link, one that is not ends it", async () => {
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url, { times: { heartbeat: { every: 20, pongWithin: 60 } } });
  const first = await relay.connection();
  await first.register();
  while (first.pings < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(relay.dials).toBe(1);
  first.answersPings = false;
  await first.closed;
  await (await relay.connection()).register();
  await agent.stop();
});

test("a server that does not upgrade, or does not answer the registration, is given up and dialled again", async () => {
  const server = createServer((_request, response) => response.end("hello"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const agent = startAgent(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  while (agent.states.filter((state) => state === "RECONNECTING").length < 2) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await agent.stop();

  const silent = await startScriptedRelay();
  startAgent(silent.url, { times: { handshakeMs: 50 } });
  await (await silent.connection()).closed;
  await silent.connection();
});

test("frames that it does not understand change nothing", async () => {
  const relay = await startScriptedRelay();
  startAgent(relay.url);
  const socket = await relay.connection();
  await socket.register();
  for (const text of ["{", "[]", '{"type":"from_the_future"}', '{"type":"tool_execute"}', "null", '"pong"'])
    socket.socket.send(text);
  socket.socket.send(Buffer.from([9, 9, 9]));
  socket.send({ type: "assistant_response", response: "hello", timestamp: "now" });
  socket.send({ type: "heartbeat_ack", timestamp: "now" });
  socket.send({ type: "call_status", tool_call_ids: ["c1"] });
  expect(await socket.texts.next()).toEqual({
    type: "call_status",
    calls: [{ tool_call_id: "c1", state: "never" }],
  });
  expect(relay.dials).toBe(1);
});

test("shutdown stops it, restart_client begins anew", async () => {
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url);
  const socket = await relay.connection();
  await socket.register();
  socket.send({ type: "system_command", command: "shutdown" });
  expect(await agent.end).toBe("stopped");
  expect(await socket.closed).toBe(1001);

  const other = startAgent(relay.url);
  const again = await relay.connection();
  await again.register();
  again.send({ type: "system_command", command: "restart_client" });
  expect(await other.end).toBe("restart");
});

test("a server that dribbles is given up, too", async () => {
  const server = createTcpServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.write("HTTP/1.1 101 Switching Protocols\r\nX-Dribble: ");
    const timer = setInterval(() => socket.write("x"), 20);
    socket.on("close", () => clearInterval(timer));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const agent = startAgent(`http://127.0.0.1:${port}`, { times: { handshakeMs: 100 } });
  await expect.poll(() => agent.states).toContain("RECONNECTING");
  await agent.stop();
});

test("a user without a home folder can be connected", async () => {
  const relay = await startScriptedRelay();
  vi.stubEnv("HOME", "/nonexistent");
  onTestFinished(() => void vi.unstubAllEnvs());
  const agent = startAgent(relay.url);
  const { metadata } = await (await relay.connection()).register();
  expect(metadata).not.toHaveProperty("disk_gb");
  await agent.stop();
});

test("a frame that cannot be followed ends neither the link nor the program", async () => {
  const relay = await startScriptedRelay();
  const endGrant = () => {
    throw new Error("broken");
  };
  const agent = startAgent(relay.url, { toolbox: { ...smallToolbox(), endGrant } });
  const socket = await relay.connection();
  await socket.register();
  socket.send({ type: "session_end", grant: "grant_reader" });
  socket.send({ type: "call_status", tool_call_ids: ["c1"] });
  expect(await socket.texts.next()).toMatchObject({ type: "call_status" });
  await agent.stop();
});

test("a second agent in one folder is refused before it touches the tools' files", async () => {
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url);
  await (await relay.connection()).register();
  let opened = false;
  const second = runAgent(
    {
      config: { relay: relay.url, device_id: DEVICE, name: "box" },
      home: agent.home,
      identity: makeIdentity(),
      log: silentLog,
      toolbox: async () => {
        opened = true;
        return smallToolbox();
      },
    },
    new AbortController().signal,
  );
  await expect(second).rejects.toMatchObject({ code: "CONFLICT" });
  expect(opened).toBe(false);
  await agent.stop();
});

test("a full but moving line is alive, one that stands is not", async () => {
  let left = 0;
  let pings = 0;
  let silent = false;
  const moving = setInterval(() => left++, 5);
  const line = { ping: () => pings++, leftBytes: () => left };
  const heartbeat = new Heartbeat(line, { every: 10, pongWithin: 30 }, () => {
    silent = true;
  });
  onTestFinished(() => {
    clearInterval(moving);
    heartbeat.stop();
  });
  await sleep(200);
  expect({ silent, pings }).toEqual({ silent: false, pings: 1 });
  clearInterval(moving);
  await expect.poll(() => silent).toBe(true);
});
