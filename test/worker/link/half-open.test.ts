/** A link that looks open long after the machine behind it is gone: what is shown of it, and what is sent on it. */
import { runInDurableObject } from "cloudflare:test";
import { TIMES } from "@matrx/shared/limits.ts";
import { afterEach, expect, it, vi } from "vitest";
import { AgentDevice, BareDevice, pairAgent } from "../helpers/device.ts";
import { type Home, home, object, sweepAt } from "../helpers/home.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const SILENT = TIMES.askAfter + 1000;
const QUESTION = { type: "call_status", tool_call_ids: [] };
const SIGN = { type: "call_status", calls: [] };

afterEach(() => {
  vi.useRealTimers();
});

/** A home whose device was last heard so long ago, in milliseconds; from now on time stands still. */
async function silentHome(ms = SILENT): Promise<Home> {
  const house = await home();
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() + ms });
  return house;
}

/** Lets time pass at the relay. */
async function pass(id: string, ms: number): Promise<void> {
  await runInDurableObject(object(id), () => vi.advanceTimersByTime(ms));
}

async function stateOf(person: Person, id: string, ms: number): Promise<string> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
  const { state } = await (await person.ask(`/v1/devices/${id}`)).json<{ state: string }>();
  vi.useRealTimers();
  return state;
}

it("is IDLE after 30 seconds and OFFLINE after 50", async () => {
  const { person, identity } = await home();
  expect(await stateOf(person, identity.id, 29_000)).toBe("ONLINE");
  expect(await stateOf(person, identity.id, 31_000)).toBe("IDLE");
  expect(await stateOf(person, identity.id, 51_000)).toBe("OFFLINE");
  const never = await pairAgent(person, "never");
  const view = await person.ask(`/v1/devices/${never.id}`);
  expect(await view.json()).toMatchObject({ state: "UNKNOWN", last_seen: null, proof: null });
});

it("of a bare device is shown by the device document's times, and is not asked", async () => {
  const person = await Person.signIn();
  const { id, token } = await person.bareDevice();
  const device = await BareDevice.register(id, token);
  expect(await stateOf(person, id, 59_000)).toBe("ONLINE");
  expect(await stateOf(person, id, 61_000)).toBe("IDLE");
  expect(await stateOf(person, id, 301_000)).toBe("OFFLINE");
  const full = await person.token({ access: "full" });
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 250_000 });
  const answering = ask(`/v1/devices/${id}/tools/create_directory`, json({}, bearer(full.token)));
  const { tool_call_id } = await device.expect("tool_execute");
  device.send({ type: "tool_result", tool_call_id, success: true, result: {} });
  expect((await answering).status).toBe(200);
});

it("is asked for a sign of life, and then called in order", async () => {
  const { device, caller } = await silentHome();
  caller.send({ id: "1", tool: "Bash", input: {} });
  caller.send({ id: "2", tool: "Read", input: {} });
  expect(await device.nextJson()).toEqual(QUESTION);
  expect(device.unread).toBe(0);
  device.send(SIGN);
  expect((await device.expect("tool_execute")).id).toBe("1");
  const second = await device.expect("tool_execute");
  expect(second.id).toBe("2");
  device.answer(second, "read");
  expect(await caller.nextJson()).toMatchObject({ id: "2", output: "read" });
  const third = caller.call("Read");
  await device.serve("at once");
  expect(await third).toMatchObject({ output: "at once" });
});

it("is not asked when a heartbeat was answered lately, though nothing else came", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 60_000 });
  const { device, caller } = await home();
  device.send("ping");
  expect(await device.next()).toBe("pong");
  vi.useRealTimers();
  caller.send({ id: "1", tool: "Bash", input: {} });
  expect((await device.nextJson()).type).toBe("tool_execute");
});

it("that gives no sign is refused what it was to do, and did nothing; the key is free", async () => {
  const { identity, device, token, caller } = await silentHome();
  const url = `/v1/devices/${identity.id}/tools/Write`;
  const headers = { ...bearer(token), "Idempotency-Key": "k" };
  const writing = ask(url, json({}, headers));
  caller.send({ id: "read", tool: "Read", input: {} });
  expect(await device.nextJson()).toEqual(QUESTION);
  await pass(identity.id, TIMES.signWithin);
  const refused = await writing;
  expect(refused.status).toBe(503);
  const { code, call } = await refused.json<{ code: string; call: string }>();
  expect(code).toBe("DEVICE_OFFLINE");
  expect(await caller.nextJson()).toMatchObject({ id: "read", code: "DEVICE_OFFLINE" });
  const record = await ask(`/v1/devices/${identity.id}/calls/${call}`, { headers: bearer(token) });
  expect(await record.json()).toMatchObject({ state: "expired", code: "DEVICE_OFFLINE" });
  // Asked in vain: the next is refused at once.
  expect(await caller.call("Bash")).toMatchObject({ code: "DEVICE_OFFLINE" });
  expect(device.unread).toBe(0);
  device.send(SIGN);
  device.send({ type: "device_heartbeat" });
  await device.expect("heartbeat_ack");
  const again = ask(url, json({}, headers));
  await device.serve("written");
  expect((await again).status).toBe(200);
});

it("is called again once it was heard, though it was asked in vain", async () => {
  const { identity, device, caller } = await silentHome();
  const first = caller.call("Bash");
  expect(await device.nextJson()).toEqual(QUESTION);
  await pass(identity.id, TIMES.signWithin);
  expect(await first).toMatchObject({ code: "DEVICE_OFFLINE" });
  device.send(SIGN);
  device.send({ type: "device_heartbeat" });
  await device.expect("heartbeat_ack");
  const second = caller.call("Bash");
  await device.serve("done");
  expect(await second).toMatchObject({ output: "done" });
});

/** After a sign of life nothing is sent to the device, and every record says that its call never ran. */
async function nothingRuns({ identity, device }: Home): Promise<void> {
  device.send(SIGN);
  device.send({ type: "device_heartbeat" });
  expect((await device.nextJson()).type).toBe("heartbeat_ack");
  const rows = await runInDurableObject(object(identity.id), (_, { storage: { sql } }) =>
    sql.exec("SELECT state FROM ledger").toArray(),
  );
  expect(rows).toEqual([{ state: "expired" }]);
}

it("does not run what was cancelled while it was asked", async () => {
  const house = await silentHome();
  const { device, caller } = house;
  caller.send({ id: "1", tool: "Bash", input: {} });
  caller.send({ id: "1", action: "cancel" });
  expect(await caller.nextJson()).toMatchObject({ id: "1", code: "CANCELLED" });
  expect(await device.nextJson()).toEqual(QUESTION);
  await nothingRuns(house);
});

it("does not run what was revoked while it was asked", async () => {
  const house = await silentHome();
  const { person, identity, device } = house;
  const { token, id } = await person.token({ access: "full" });
  const running = ask(`/v1/devices/${identity.id}/tools/Bash`, json({}, bearer(token)));
  expect(await device.nextJson()).toEqual(QUESTION);
  await person.ask(`/v1/tokens/${id}`, { method: "DELETE" });
  expect((await running).status).toBe(401);
  expect(await device.nextJson()).toMatchObject({ type: "session_end", grant: id });
  await nothingRuns(house);
});

it("does not run what its caller left and wanted stopped while it was asked", async () => {
  const house = await silentHome();
  const { device, caller } = house;
  caller.send({ id: "1", tool: "Bash", input: {}, cancel_on_disconnect: true });
  expect(await device.nextJson()).toEqual(QUESTION);
  caller.close();
  await caller.closed;
  await nothingRuns(house);
});

it("does not run what was let through by a policy that changed while it was asked; the key is free", async () => {
  const house = await silentHome();
  const { person, identity, device, caller } = house;
  caller.send({ id: "1", tool: "Bash", input: {}, idempotency_key: "k" });
  expect(await device.nextJson()).toEqual(QUESTION);
  await person.setPolicy(identity.id, { allowed_tools: ["Read"] });
  expect(await caller.nextJson()).toMatchObject({ id: "1", code: "UNAVAILABLE", hop: "relay" });
  expect(await device.nextJson()).toMatchObject({ type: "session_end", grant: "*" });
  expect(await device.nextJson()).toMatchObject({ type: "system_command" });
  await nothingRuns(house);
});

it("that is back without its journal while it is asked gets what had not left", async () => {
  const { identity, device, caller } = await silentHome();
  const answering = caller.call("Bash");
  expect(await device.nextJson()).toEqual(QUESTION);
  const back = await AgentDevice.come(identity, { journal: "journal-2" });
  await back.serve("done");
  expect(await answering).toMatchObject({ output: "done" });
});

it("that closes while it is asked is refused at once", async () => {
  const { device, caller } = await silentHome();
  const answering = caller.call("Bash");
  expect(await device.nextJson()).toEqual(QUESTION);
  device.close();
  expect(await answering).toMatchObject({ code: "DEVICE_OFFLINE" });
});

it("that is back on another connection while it is asked gets each call once, there", async () => {
  const { identity, device, caller } = await silentHome();
  caller.send({ id: "effect", tool: "Bash", input: {} });
  caller.send({ id: "read", tool: "Read", input: {} });
  expect(await device.nextJson()).toEqual(QUESTION);
  const back = await AgentDevice.come(identity);
  expect(await back.nextJson()).toMatchObject({ type: "tool_execute", id: "effect" });
  expect(await back.nextJson()).toMatchObject({ type: "tool_execute", id: "read" });
  back.send({ type: "device_heartbeat" });
  expect((await back.nextJson()).type).toBe("heartbeat_ack");
});

it("gets no command without a sign of life", async () => {
  const { person, identity, device } = await silentHome();
  const command = () =>
    person.ask(`/v1/devices/${identity.id}/commands`, json({ command: "restart_client" }));
  const vain = command();
  expect(await device.nextJson()).toEqual(QUESTION);
  await pass(identity.id, TIMES.signWithin);
  expect((await vain).status).toBe(503);
  device.send(SIGN);
  device.send({ type: "device_heartbeat" });
  await device.expect("heartbeat_ack");
  expect((await command()).status).toBe(202);
  expect(await device.nextJson()).toMatchObject({ type: "system_command", command: "restart_client" });
});

it("holds no more than 16 MiB of calls for a device that is asked", async () => {
  const { person, identity, device, token } = await silentHome();
  await person.setPolicy(identity.id, { rates: { messages_per_second: 1000, calls_per_minute: 1000 } });
  const write = () =>
    ask(`/v1/devices/${identity.id}/tools/Write`, json({ content: "x".repeat(4_000_000) }, bearer(token)));
  const writing = Array.from({ length: 5 }, write);
  const refused = await Promise.race(writing);
  expect(await refused.json()).toMatchObject({ code: "RATE_LIMITED", hop: "relay" });
  device.close();
  await Promise.all(writing);
});

it("with a call under way is asked, and closed as dead after 50 seconds", async () => {
  const { identity, device, caller } = await home();
  caller.send({ id: "1", tool: "Read", input: {}, timeout_ms: 300_000 });
  await device.expect("tool_execute");
  const began = Date.now();
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: began });
  await sweepAt(identity.id, began + 26_000);
  expect(await device.nextJson()).toEqual(QUESTION);
  await sweepAt(identity.id, began + 49_000);
  await sweepAt(identity.id, began + 51_000);
  expect((await device.closed).code).toBe(4001);
  await sweepAt(identity.id, began + 90_000);
  expect(await caller.nextJson()).toMatchObject({ id: "1", code: "DEVICE_OFFLINE" });
});
