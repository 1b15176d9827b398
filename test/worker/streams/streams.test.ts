/** Streams at the relay, frame by frame: whose they are, how much may be on its way, what ends them, what they survive. */
import { evictDurableObject } from "cloudflare:test";
import type { ToolExecute } from "@matrx/shared/device-frames.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import {
  creditOf,
  creditPayload,
  decodeStreamFrame,
  encodeStreamFrame,
  messagePayload,
  resetErrorOf,
  type StreamFrame,
  type StreamKind,
} from "@matrx/shared/streams/frame.ts";
import { expect, it } from "vitest";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice, assertionOf, BareDevice } from "../helpers/device.ts";
import { type Home, home, object, sweepAt } from "../helpers/home.ts";
import type { TestSocket } from "../helpers/socket.ts";

const KiB = 1024;
const CREDIT = 64 * KiB;
/** A caller does not know its connection: the relay puts it in. */
const UNKNOWN_CONNECTION = "0000000000000000";
const encoder = new TextEncoder();

interface OpenStream extends Home {
  /** The relay's name for the caller's connection. */
  connection: string;
  execute: ToolExecute;
}

/** A caller with subprotocol `matrx.v1` and one open stream, number 1. */
async function streaming(credit = CREDIT): Promise<OpenStream> {
  const house = await home();
  const caller = await TestCaller.connect(house.identity.id, house.token, { protocol: "matrx.v1" });
  await caller.nextJson();
  const open = { ...house, caller };
  return { ...open, ...(await opened(open, 1, credit)) };
}

async function opened({ caller, device }: Pick<Home, "caller" | "device">, stream: number, credit = CREDIT) {
  caller.send({ id: `open-${stream}`, tool: "Read", input: {}, opens: { stream, credit } });
  const execute = await device.expect("tool_execute");
  const { connection = "" } = execute.opens ?? {};
  expect(execute.opens).toEqual({ connection, stream, credit });
  device.answer(execute, "opened");
  expect(await caller.nextJson()).toMatchObject({ id: `open-${stream}`, type: "success" });
  return { connection, execute };
}

function send(
  socket: TestSocket,
  kind: StreamKind,
  payload: Uint8Array | string,
  { connection = UNKNOWN_CONNECTION, stream = 1, bulk = false } = {},
): void {
  const bytes = typeof payload === "string" ? encoder.encode(payload) : payload;
  socket.sendBinary(encodeStreamFrame({ connection, stream, bulk }, kind, bytes));
}

async function frame(socket: TestSocket): Promise<StreamFrame> {
  const message = await socket.next();
  if (typeof message === "string") throw new Error(`expected a stream frame, got ${message}`);
  return decodeStreamFrame(new Uint8Array(message));
}

async function payload(socket: TestSocket): Promise<string> {
  return new TextDecoder().decode((await frame(socket)).payload);
}

async function reset(socket: TestSocket): Promise<ErrorShape> {
  const one = await frame(socket);
  expect(one.kind).toBe("reset");
  return resetErrorOf(one);
}

async function bulkOf({ identity }: Home): Promise<TestSocket> {
  const bulk = await AgentDevice.dial(identity.id);
  const auth_token = `Bearer ${await assertionOf(identity, { nonce: bulk.nonce })}`;
  bulk.send({ type: "device_bulk", device_id: identity.id, auth_token });
  expect(await bulk.nextJson()).toEqual({ type: "bulk_ready" });
  return bulk;
}

it("carries bytes, messages and the end both ways, under the connection that the relay gave", async () => {
  const { caller, device, connection } = await streaming();
  send(device, "data", "hello", { connection });
  expect(await payload(caller)).toBe("hello");
  send(device, "credit", creditPayload(CREDIT), { connection });
  expect(creditOf(await frame(caller))).toBe(CREDIT);
  send(caller, "data", "world");
  expect(await frame(device)).toMatchObject({ kind: "data", connection, stream: 1 });
  send(caller, "message", messagePayload({ type: "resize", cols: 80, rows: 24 }));
  expect(await payload(device)).toBe('{"type":"resize","cols":80,"rows":24}');
  send(caller, "end", "");
  expect((await frame(device)).kind).toBe("end");
  send(device, "end", '{"sha256":"ab"}', { connection });
  expect(await payload(caller)).toBe('{"sha256":"ab"}');
  send(caller, "data", "more");
  expect((await reset(caller)).code).toBe("NOT_FOUND");
});

it("cannot be reached under another connection: what a caller writes there is not believed", async () => {
  const first = await streaming();
  const other = await TestCaller.connect(first.identity.id, first.token, { protocol: "matrx.v1" });
  await other.nextJson();
  const { connection } = await opened({ ...first, caller: other }, 7);
  send(first.device, "credit", creditPayload(CREDIT), first);
  await frame(first.caller);
  send(other, "data", "stolen", { connection: first.connection, stream: 1 });
  expect((await reset(other)).code).toBe("NOT_FOUND");
  send(first.caller, "data", "mine", { connection });
  expect(await frame(first.device)).toMatchObject({ connection: first.connection, stream: 1 });
});

it("ends for both when the device sends more than its credit", async () => {
  const { caller, device, connection } = await streaming(32 * KiB);
  send(device, "data", new Uint8Array(32 * KiB), { connection });
  expect((await reset(caller)).message).toMatch(/more data/i);
  expect((await reset(device)).code).toBe("INVALID_MESSAGE");
  send(device, "data", "again", { connection });
  expect((await reset(device)).code).toBe("NOT_FOUND");
});

it("ends for both when the caller gives more credit than it can have used", async () => {
  const { caller, device } = await streaming();
  send(caller, "credit", creditPayload(LIMITS.streamCreditMinBytes));
  expect((await reset(device)).message).toMatch(/credit/);
  expect((await reset(caller)).code).toBe("INVALID_MESSAGE");
});

it("ends for both when the caller sends before it has credit", async () => {
  const { caller, device } = await streaming();
  send(caller, "data", "too early");
  expect((await reset(device)).code).toBe("INVALID_MESSAGE");
  expect((await reset(caller)).code).toBe("INVALID_MESSAGE");
});

it("survives the object's sleep, with its connection, its number and its credit", async () => {
  const { identity, caller, device, connection } = await streaming();
  await evictDurableObject(object(identity.id));
  send(device, "data", "after the sleep", { connection });
  expect(await payload(caller)).toBe("after the sleep");
  await evictDurableObject(object(identity.id));
  send(device, "credit", creditPayload(CREDIT), { connection });
  await frame(caller);
  send(caller, "data", "from the caller");
  expect(await frame(device)).toMatchObject({ kind: "data", connection, stream: 1 });
  caller.close();
  expect((await reset(device)).message).toMatch(/caller/i);
});

it("ends with a reason when the device's connection is lost, and when another takes over", async () => {
  const { identity, caller, device } = await streaming();
  device.close();
  expect((await reset(caller)).code).toBe("UNAVAILABLE");
  const second = await AgentDevice.come(identity);
  await opened({ caller, device: second }, 2);
  await AgentDevice.come(identity);
  expect((await reset(caller)).message).toMatch(/disconnected/);
});

it("ends for a device that is sent its call again after the stream was lost", async () => {
  const { identity, caller, device } = await streaming();
  caller.send({ id: "lost", tool: "Read", input: {}, opens: { stream: 2, credit: CREDIT } });
  const { opens } = await device.expect("tool_execute");
  device.close();
  for (let stream = 1; stream <= 2; stream++) expect((await reset(caller)).code).toBe("UNAVAILABLE");
  const second = await AgentDevice.come(identity);
  const again = await second.expect("tool_execute");
  expect(again.opens).toEqual(opens);
  second.answer(again, "opened");
  expect(await caller.nextJson()).toMatchObject({ id: "lost", type: "success" });
  send(second, "credit", creditPayload(CREDIT), { ...opens });
  expect((await reset(second)).code).toBe("NOT_FOUND");
});

it("ends when its grant is revoked, changed or not allowed by the policy any more", async () => {
  const { person, identity, device, caller } = await streaming();
  const { token, id } = await person.token({ access: "full" });
  const guest = await TestCaller.connect(identity.id, token, { protocol: "matrx.v1" });
  await guest.nextJson();
  await opened({ caller: guest, device }, 3);
  await person.ask(`/v1/tokens/${id}`, { method: "DELETE" });
  expect((await reset(device)).code).toBe("UNAUTHENTICATED");
  expect((await reset(guest)).code).toBe("UNAUTHENTICATED");
  await device.expect("session_end");
  expect((await person.setPolicy(identity.id, { allowed_tools: ["SystemInfo"] })).status).toBe(200);
  expect((await reset(device)).code).toBe("PERMISSION_DENIED");
  expect((await reset(caller)).code).toBe("PERMISSION_DENIED");
});

it("is not opened by a call that is refused, and its number is free again", async () => {
  const { caller, device } = await streaming();
  caller.send({ id: "a", tool: "Nonsense", input: {}, opens: { stream: 2, credit: CREDIT } });
  expect(await caller.nextJson()).toMatchObject({ id: "a", code: "TOOL_NOT_FOUND" });
  await opened({ caller, device }, 2);
  caller.send({ id: "b", tool: "Read", input: {}, opens: { stream: 2, credit: CREDIT } });
  expect(await caller.nextJson()).toMatchObject({ id: "b", code: "CONFLICT" });
});

it.each([
  ["number 0", { stream: 0, credit: CREDIT }],
  ["a number beyond 2^31", { stream: 2 ** 31, credit: CREDIT }],
  ["too little credit", { stream: 2, credit: 100 }],
  ["too much credit", { stream: 2, credit: LIMITS.streamWindowBytes + 1 }],
  ["no credit", { stream: 2 }],
])("is refused with %s", async (_what, opens) => {
  const { caller } = await streaming();
  caller.send({ id: "a", tool: "Read", input: {}, opens });
  expect(await caller.nextJson()).toMatchObject({ id: "a", code: "INVALID_PARAMETERS" });
});

it("is refused without subprotocol, by an older agent, and by a bare device", async () => {
  const house = await home();
  const opens = { stream: 1, credit: CREDIT };
  expect(await house.caller.call("Read", {}, { opens })).toMatchObject({ code: "INVALID_PARAMETERS" });
  await AgentDevice.come(house.identity, { protocol: 2 });
  const caller = await TestCaller.connect(house.identity.id, house.token, { protocol: "matrx.v1" });
  await caller.nextJson();
  expect(await caller.call("Read", {}, { opens })).toMatchObject({ code: "UNAVAILABLE" });
  const bare = await house.person.bareDevice();
  await BareDevice.register(bare.id, bare.token);
  const { token } = await house.person.token({ access: "full" });
  const other = await TestCaller.connect(bare.id, token, { protocol: "matrx.v1" });
  await other.nextJson();
  other.send({ id: "a", tool: "search_files", input: { path: "/" }, opens });
  expect(await other.nextJson()).toMatchObject({ code: "UNAVAILABLE" });
});

it("counts all credit of a grant: more than 16 MiB together is refused", async () => {
  const open = await streaming(LIMITS.streamWindowBytes);
  for (const stream of [2, 3, 4]) await opened(open, stream, LIMITS.streamWindowBytes);
  open.caller.send({ id: "a", tool: "Read", input: {}, opens: { stream: 5, credit: CREDIT } });
  expect(await open.caller.nextJson()).toMatchObject({ id: "a", code: "RATE_LIMITED" });
  send(open.device, "end", "", { connection: open.connection, stream: 4 });
  await frame(open.caller);
  await opened(open, 5);
});

it("opens with less credit for who takes less: the device has it, and the caller is told first", async () => {
  const open = await streaming(LIMITS.streamWindowBytes);
  for (const stream of [2, 3, 4]) await opened(open, stream, LIMITS.streamWindowBytes);
  const { caller, device, connection } = open;
  caller.send({ id: "a", tool: "Read", input: {}, opens: { stream: 5, credit: CREDIT, less: true } });
  const told = await frame(caller);
  expect([told.kind, told.stream, creditOf(told)]).toEqual(["window", 5, LIMITS.streamWindowMinBytes]);
  const execute = await device.expect("tool_execute");
  expect(execute.opens).toEqual({ connection, stream: 5, credit: LIMITS.streamWindowMinBytes });
});

it("is kept with all else that a connection keeps: 32 streams beside 64 unanswered calls with long ids", async () => {
  const open = await streaming(32 * KiB);
  const { person, identity, caller, device, connection } = open;
  const rates = { messages_per_second: 1000, calls_per_minute: 10_000 };
  expect((await person.setPolicy(identity.id, { rates })).status).toBe(200);
  for (let stream = 2; stream <= LIMITS.byteStreamsPerConnection; stream++)
    await opened(open, stream, 32 * KiB + stream);
  caller.send({ id: "one more", tool: "Read", input: {}, opens: { stream: 99, credit: CREDIT } });
  expect(await caller.nextJson()).toMatchObject({ id: "one more", code: "RATE_LIMITED" });
  const calls = LIMITS.unansweredPerSession;
  for (let call = 0; call < calls; call++)
    caller.send({ id: `${call}`.padEnd(LIMITS.callerIdChars, "x"), tool: "Read", input: {} });
  const last = await (async () => {
    let execute = await device.expect("tool_execute");
    for (let call = 1; call < calls; call++) execute = await device.expect("tool_execute");
    return execute;
  })();
  await sweepAt(identity.id, Date.now() + TIMES.settleAfter);
  await evictDurableObject(object(identity.id));
  send(device, "data", "kept", { connection, stream: LIMITS.byteStreamsPerConnection });
  expect(await payload(caller)).toBe("kept");
  device.answer(last, "kept too");
  expect(await caller.nextJson()).toMatchObject({ id: last.id, output: "kept too" });
});

it("may go over a second connection of the agent, and ends with it, but the others do not", async () => {
  const open = await streaming();
  const { caller, device, connection } = open;
  await opened(open, 2);
  const bulk = await bulkOf(open);
  send(bulk, "data", "over the second", { connection, stream: 2, bulk: true });
  expect(await payload(caller)).toBe("over the second");
  send(bulk, "credit", creditPayload(CREDIT), { connection, stream: 2, bulk: true });
  await frame(caller);
  send(caller, "data", "back", { stream: 2, bulk: true });
  expect(await frame(bulk)).toMatchObject({ kind: "data", stream: 2 });
  bulk.close();
  expect((await reset(caller)).message).toMatch(/connection for streams/);
  send(device, "data", "over the first", { connection });
  expect(await payload(caller)).toBe("over the first");
});

it("uses the second connection after the object's sleep too, whoever sends first", async () => {
  const open = await streaming();
  const bulk = await bulkOf(open);
  const { connection } = open;
  send(bulk, "credit", creditPayload(CREDIT), { connection, bulk: true });
  await frame(open.caller);
  await evictDurableObject(object(open.identity.id));
  send(open.caller, "data", "from the caller", { bulk: true });
  expect(await payload(bulk)).toBe("from the caller");
  send(bulk, "data", "still here", { connection, bulk: true });
  expect(await payload(open.caller)).toBe("still here");
  open.device.answer({ ...open.execute, tool_call_id: "none" }, "a stray answer does no harm");
  expect(await (await open.person.ask(`/v1/devices/${open.identity.id}`)).json()).toMatchObject({
    state: "ONLINE",
  });
});

it("does not take a second connection without proof, for another device, or before the first", async () => {
  const open = await streaming();
  const { identity } = open;
  const stolen = await AgentDevice.dial(identity.id);
  const old = await assertionOf(identity, { nonce: open.device.nonce });
  stolen.send({ type: "device_bulk", device_id: identity.id, auth_token: `Bearer ${old}` });
  expect(await stolen.nextJson()).toMatchObject({ error_code: "UNAUTHENTICATED" });
  const plain = await AgentDevice.dial(identity.id);
  plain.send({ type: "device_bulk", device_id: identity.id });
  expect(await plain.nextJson()).toMatchObject({ error_code: "INVALID_PARAMETERS" });
  open.device.close();
  await open.device.closed;
  const early = await AgentDevice.dial(identity.id);
  const auth_token = `Bearer ${await assertionOf(identity, { nonce: early.nonce })}`;
  early.send({ type: "device_bulk", device_id: identity.id, auth_token });
  expect(await early.nextJson()).toMatchObject({ error_code: "DEVICE_OFFLINE" });
});

it("answers frames that nobody can read with an error, and goes on", async () => {
  const { caller, device, connection } = await streaming();
  caller.sendBinary(Uint8Array.of(16, 1, 2));
  expect(await caller.nextJson()).toMatchObject({ type: "error", code: "INVALID_MESSAGE" });
  send(caller, "data", new Uint8Array(LIMITS.streamDataBytes + 1));
  expect(await caller.nextJson()).toMatchObject({ type: "error", code: "PAYLOAD_TOO_LARGE" });
  device.sendBinary(Uint8Array.of(20));
  expect(await device.nextJson()).toMatchObject({ type: "error", error_code: "INVALID_MESSAGE" });
  send(device, "data", "all the same", { connection });
  expect(await payload(caller)).toBe("all the same");
});
