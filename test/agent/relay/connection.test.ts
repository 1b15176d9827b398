import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { EVERY_GRANT } from "@matrx/shared/device-frames.ts";
import { PROTOCOL } from "@matrx/shared/tokens.ts";
import { importJWK, jwtVerify } from "jose";
import { expect, onTestFinished, test, vi } from "vitest";
import { startAgent as startOther } from "../../../agent/agent.ts";
import { makeIdentity } from "../../../agent/config/identity.ts";
import { Heartbeat } from "../../../shared/heartbeat.ts";
import { smallToolbox } from "../core/small-tools.ts";
import { startScriptedRelay } from "./scripted-relay.ts";
import { DEVICE, smallParts, startAgent } from "./start-agent.ts";

function refusal(message: string, details: Record<string, unknown>) {
  return { type: "error", error_code: "UNAUTHENTICATED", message, details, timestamp: "now" } as const;
}

test("it dials, signs the nonce for the host it dialled, and registers", async () => {
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url);
  const socket = await relay.connection();
  expect(socket.url).toBe(`/v1/device/ws?device=${DEVICE}`);
  const frame = await socket.register();
  expect(frame).toMatchObject({
    ...{ device_id: DEVICE, protocol: PROTOCOL, os: expect.any(String), hostname: expect.any(String) },
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
  const { host } = new URL(relay.url);
  expect(payload).toEqual({ iss: DEVICE, aud: host, nonce: socket.nonce });
  const early = await jwtVerify(String(socket.authorization).replace("Bearer ", ""), key);
  expect(early.payload).toEqual({ iss: DEVICE, aud: host });
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
  [4000, "CONFLICT"],
  [4403, "PERMISSION_DENIED"],
])("close code %i on a registered connection is final: %s", async (closeCode, code) => {
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url);
  const socket = await relay.connection();
  await socket.register();
  socket.socket.close(closeCode, "said so");
  expect(await agent.end).toMatchObject({
    code,
    hint: expect.stringContaining("matrx pair --replace"),
    details: { relay_said: "said so" },
  });
  expect(relay.dials).toBe(1);
});

test("a registration that was checked and refused is final", async () => {
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url);
  const socket = await relay.connection();
  await socket.texts.next();
  socket.send(refusal("The assertion's signature is wrong", { final: true }));
  socket.socket.close(4401, "The assertion's signature is wrong");
  expect(await agent.end).toMatchObject({
    code: "UNAUTHENTICATED",
    hint: expect.stringContaining("matrx pair --replace"),
    details: { relay_said: "The assertion's signature is wrong" },
  });
  expect(relay.dials).toBe(1);
});

test("no close code is final before the registration was checked, whatever is said", async () => {
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url);
  for (const code of [1001, 1011, 1013, 4000, 4001, 4400, 4401, 4403, 4404, 4408]) {
    const { socket } = await relay.connection();
    socket.close(code, "Others are waiting to register");
  }
  const early = await relay.connection();
  await early.texts.next();
  // As a relay of the last release says that the registration came too late.
  early.send(refusal("No device_register within ten seconds", { hop: "relay" }));
  early.socket.close(4401, "No device_register within ten seconds");
  await (await relay.connection()).register();
  expect(await agent.stop()).toBe("stopped");
});

test("no other close code ends an agent that was registered", async () => {
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url);
  for (const code of [1001, 1013, 4001, 4400, 4401, 4404, 4408]) {
    const socket = await relay.connection();
    await socket.register();
    socket.socket.close(code);
  }
  await (await relay.connection()).register();
  expect(await agent.stop()).toBe("stopped");
});

test.each([503, 500, 429, 404, 403, 401, 302, 200])(
  "HTTP %i at the upgrade is tried again, whoever says it",
  async (status) => {
    const relay = await startScriptedRelay();
    relay.refuseWith(status, "hello");
    const agent = startAgent(relay.url);
    while (relay.dials < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    relay.refuseWith(status, JSON.stringify({ type: "urn:matrx:error:PERMISSION_DENIED", detail: "no" }));
    while (relay.dials < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    relay.refuseWith(undefined);
    await (await relay.connection()).register();
    expect(await agent.stop()).toBe("stopped");
  },
);

test("a relay that does not know the device is asked again, but seldom", async () => {
  const relay = await startScriptedRelay();
  const problem = { type: "urn:matrx:error:UNKNOWN_DEVICE", status: 404, detail: "There is no device" };
  relay.refuseWith(404, JSON.stringify(problem));
  const asked: number[] = [];
  const seldomDelay = () => asked.push(relay.dials) * 10;
  const agent = startAgent(relay.url, { times: { seldomDelay } });
  while (relay.dials < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  relay.refuseWith(undefined);
  await (await relay.connection()).register();
  expect(asked.slice(0, 3)).toEqual([1, 2, 3]);
  expect(await agent.stop()).toBe("stopped");
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
  const endSessions = () => {
    throw new Error("broken");
  };
  const agent = startAgent(relay.url, { toolbox: { ...smallToolbox(), endSessions } });
  const socket = await relay.connection();
  await socket.register();
  socket.send({ type: "session_end", grant: "grant_reader" });
  socket.send({ type: "call_status", tool_call_ids: ["c1"] });
  expect(await socket.texts.next()).toMatchObject({ type: "call_status" });
  await agent.stop();
});

test("what the commands of a narrowed grant left running ends, and its sessions stay", async () => {
  const relay = await startScriptedRelay();
  const ended: string[] = [];
  const toolbox = {
    ...smallToolbox(),
    endSessions: (grant: string) => void ended.push(`sessions of ${grant}`),
    endCommands: (grant: string) => void ended.push(`commands of ${grant}`),
  };
  const agent = startAgent(relay.url, { toolbox });
  const socket = await relay.connection();
  await socket.register();
  socket.send({ type: "session_end", grant: "grant_narrow", only: "commands" });
  socket.send({ type: "session_end", grant: "grant_over" });
  socket.send({ type: "session_end", grant: EVERY_GRANT });
  socket.send({ type: "call_status", tool_call_ids: ["c1"] });
  expect(await socket.texts.next()).toMatchObject({ type: "call_status" });
  expect(ended).toEqual([
    ...["commands of grant_narrow", "commands of grant_over", "sessions of grant_over"],
    `commands of ${EVERY_GRANT}`,
  ]);
  await agent.stop();
});

test("a second agent in one folder is refused before it touches the tools' files", async () => {
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url);
  await (await relay.connection()).register();
  const openToolbox = vi.fn(async () => smallToolbox());
  const config = { relay: relay.url, device_id: DEVICE };
  const second = startOther(
    {
      ...{ home: agent.home, device: DEVICE, log: {}, monitors: undefined },
      relay: { config, identity: makeIdentity() },
    },
    new AbortController().signal,
    { ...smallParts(), openToolbox },
  );
  await expect(second).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(openToolbox).not.toHaveBeenCalled();
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
