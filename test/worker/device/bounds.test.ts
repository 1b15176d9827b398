/** What one caller or device sends is bounded, and what is odd about it hurts nobody else. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { LIMITS } from "@matrx/shared/limits.ts";
import { encodeResultFrame } from "@matrx/shared/result-frame.ts";
import { describe, expect, it } from "vitest";
import { MessageBuffer } from "../../../worker/socket.ts";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice, BareDevice, pairAgent, TOOLS } from "../helpers/device.ts";
import { home, object, sweepAt } from "../helpers/home.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const WIDE = { rates: { messages_per_second: 10_000, calls_per_minute: 100_000 } };
const LONG_PATHS = Array.from({ length: 64 }, (_, n) => `/srv/${n}/${"path-".repeat(100)}`);

describe("a caller's attachment", () => {
  it.each([
    ["ids of Latin-1", (n: number) => `${n}-`.padEnd(128, "ü"), 64],
    ["ids beyond it", (n: number) => `${n}-`.padEnd(128, "€"), 36],
  ])("holds as many unanswered calls as may be, under %s and a limited grant", async (_, idOf, fit) => {
    const person = await Person.signIn("a".repeat(64));
    const identity = await pairAgent(person, "n".repeat(32));
    await person.setPolicy(identity.id, WIDE);
    const device = await AgentDevice.come(identity);
    const paths = ["/srv/".padEnd(400, "ü")];
    const { token } = await person.token({ access: "full", paths });
    const caller = await TestCaller.connect(identity.id, token, { protocol: "matrx.v1" });
    await caller.nextJson();
    for (let n = 0; n <= fit; n++) caller.send({ id: idOf(n), tool: "Write", input: {} });
    for (let n = 0; n < fit; n++)
      expect(await caller.nextJson()).toMatchObject({ id: idOf(n), type: "accepted" });
    expect(await caller.nextJson()).toMatchObject({ id: idOf(fit), code: "RATE_LIMITED" });
    const executes = [];
    for (let n = 0; n < fit; n++) executes.push(await device.expect("tool_execute"));
    await sweepAt(identity.id, Date.now() + 6_000);
    await evictDurableObject(object(identity.id));
    for (const execute of executes) device.answer(execute, "written");
    for (let n = 0; n < fit; n++)
      expect(await caller.nextJson()).toMatchObject({ id: idOf(n), output: "written" });
  });

  it("need not hold the folders of a grant that are too many for it", async () => {
    const { person, identity, device } = await home();
    const { token } = await person.token({ access: "read", paths: LONG_PATHS });
    const caller = await TestCaller.connect(identity.id, token);
    await evictDurableObject(object(identity.id));
    const answering = caller.call("Read");
    expect((await device.serve("read")).grant?.paths).toEqual(LONG_PATHS);
    expect(await answering).toMatchObject({ output: "read" });
  });
});

it.each([
  ["half a surrogate", '{"content":"\\ud800"}'],
  ["a number past all bounds", '{"content":1e999}'],
])("a key cannot stand for %s, and says so", async (_, body) => {
  const { identity, token } = await home();
  const headers = { ...bearer(token), "Idempotency-Key": "k" };
  const response = await ask(`/v1/devices/${identity.id}/tools/Write`, { method: "POST", body, headers });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: "INVALID_PARAMETERS", field: "input", hop: "relay" });
});

it("an answer that is no JSON still ends the call for each who waits, and its record can be read", async () => {
  const { identity, device, token, caller } = await home();
  const keyed = { idempotency_key: "k" };
  caller.send({ id: "a", tool: "Write", input: {}, ...keyed });
  caller.send({ id: "b", tool: "Write", input: {}, ...keyed });
  const { tool_call_id: call } = await device.expect("tool_execute");
  device.sendBinary(encodeResultFrame({ call, status: "error", ms: 1 }, new TextEncoder().encode("oops")));
  for (const id of ["a", "b"])
    expect(await caller.nextJson()).toMatchObject({
      id,
      type: "error",
      code: "INVALID_ANSWER",
      hop: "device",
    });
  await device.expect("result_ack");
  const record = await ask(`/v1/devices/${identity.id}/calls/${call}`, { headers: bearer(token) });
  expect(await record.json()).toMatchObject({ state: "finished", outcome: { code: "INVALID_ANSWER" } });
  const again = await ask(
    `/v1/devices/${identity.id}/tools/Write`,
    json({}, { ...bearer(token), "Idempotency-Key": "k" }),
  );
  expect(again.status).toBe(502);
});

it("a tool that says it takes for ever takes the longest deadline there is", async () => {
  const { identity, device, token, caller } = await home();
  const tools = [{ ...TOOLS[2], timeout_ms: Number.MAX_SAFE_INTEGER }];
  device.send({ type: "manifest", hash: "patient", tools });
  device.send({ type: "device_heartbeat" });
  await device.expect("heartbeat_ack");
  caller.send({ id: "1", tool: "Bash", input: {} });
  const { tool_call_id: call } = await device.expect("tool_execute");
  const record = await ask(`/v1/devices/${identity.id}/calls/${call}`, { headers: bearer(token) });
  expect(record.status).toBe(200);
});

it("a bare device's other messages are held to 256 KiB; only its results may be larger", async () => {
  const person = await Person.signIn();
  const { id, token } = await person.bareDevice();
  const device = await BareDevice.register(id, token);
  device.send({ type: "user_query", query: "x".repeat(LIMITS.deviceFrameBytes) });
  expect(await device.expect("error")).toMatchObject({ error_code: "PAYLOAD_TOO_LARGE" });
});

it("one device whose object fails does not hide the others", async () => {
  const person = await Person.signIn();
  const { id: broken } = await person.bareDevice();
  const { id: whole } = await person.bareDevice();
  await runInDurableObject(object(broken), (_, { storage }) =>
    storage.kv.put("last_seen", { last_seen: Number.NaN, proof: null }),
  );
  const response = await person.ask("/v1/devices");
  expect(response.status).toBe(200);
  expect((await response.json<{ devices: { id: string }[] }>()).devices.map(({ id }) => id)).toEqual([whole]);
});

it("used tickets are forgotten once they are too old to be tried again", async () => {
  const { person, identity } = await home();
  await runInDurableObject(object(identity.id), (_, { storage }) => storage.kv.put("ticket:old", 1));
  const { ticket } = await person.post<{ ticket: string }>("/v1/tickets", { device: identity.id });
  const path = `/v1/devices/${identity.id}/ws?ticket=${ticket}`;
  expect((await ask(path, { headers: { Upgrade: "websocket" } })).status).toBe(101);
  const kept = await runInDurableObject(object(identity.id), (_, { storage }) =>
    Array.from(storage.kv.list({ prefix: "ticket:" }), ([key]) => key),
  );
  expect(kept).toHaveLength(1);
  expect(kept).not.toContain("ticket:old");
});

it("grants that are over leave no row once another is made", async () => {
  const { person } = await home();
  const account = env.ACCOUNT.getByName(person.account);
  await runInDurableObject(account, (_, { storage: { sql } }) =>
    sql.exec("UPDATE grants SET expires = 1 WHERE kind = 'api'"),
  );
  await person.token({ access: "read" });
  const rows = await runInDurableObject(account, (_, { storage: { sql } }) =>
    sql.exec("SELECT id FROM grants WHERE expires = 1").toArray(),
  );
  expect(rows).toEqual([]);
});

it("a device's token that is too long is refused like any that is wrong", async () => {
  const { identity } = await home();
  const response = await ask(`/v1/device/ws?device=${identity.id}`, {
    headers: { Upgrade: "websocket", ...bearer("x".repeat(20_000)) },
  });
  expect(response.status).toBe(401);
});

it("a tool's name over REST is as long as over a socket, at most", async () => {
  const { identity, token } = await home();
  const response = await ask(`/v1/devices/${identity.id}/tools/${"x".repeat(129)}`, json({}, bearer(token)));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: "INVALID_PARAMETERS", field: "tool" });
});

it("a token for one device gets no ticket for another, and a revoked one none at all", async () => {
  const { person, identity } = await home();
  const { id: other } = await person.bareDevice();
  const limited = await person.token({ access: "full", devices: [identity.id] });
  const ticketFor = (device: string) => ask("/v1/tickets", json({ device }, bearer(limited.token)));
  expect((await ticketFor(other)).status).toBe(403);
  expect((await ticketFor(identity.id)).status).toBe(201);
  await person.ask(`/v1/tokens/${limited.id}`, { method: "DELETE" });
  expect((await ticketFor(identity.id)).status).toBe(401);
});

describe("messages that wait", () => {
  it("are bounded in number and in size", () => {
    const few = new MessageBuffer(2);
    expect([few.push("a"), few.push("b"), few.push("c")]).toEqual([true, true, false]);
    const large = new MessageBuffer(64);
    const message = new ArrayBuffer(4 * 1024 * 1024);
    expect([large.push(message), large.push(message), large.push(message)]).toEqual([true, true, false]);
    expect(large.messages).toHaveLength(2);
  });
});
