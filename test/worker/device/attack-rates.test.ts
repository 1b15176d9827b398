/** A caller tries to get more calls than its rate, while the clock stands still. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import type { ToolExecute } from "@matrx/shared/device-frames.ts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice, BareDevice } from "../helpers/device.ts";
import { type Home, home, object } from "../helpers/home.ts";
import { bearer, json } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";
import { countRows } from "../helpers/written-rows.ts";

const CALLS = 20;
/** Messages are not in the way. */
const POLICY = { rates: { messages_per_second: 10_000, calls_per_minute: CALLS } };

let world: Home;
let device: AgentDevice;
let token: string;
let id: string;

beforeEach(async () => {
  world = await home();
  id = world.identity.id;
  await world.person.setPolicy(id, POLICY);
  ({ token } = await world.person.token({ access: "read" }));
  device = world.device;
  answerAll(device);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
});

afterEach(() => vi.useRealTimers());

function answerAll(one: AgentDevice): void {
  one.ws.addEventListener("message", ({ data }) => {
    const frame = JSON.parse(String(data)) as ToolExecute;
    if (frame.type === "tool_execute") one.answer(frame, "read");
  });
}

const connect = () => TestCaller.connect(id, token);
const sleep = () => evictDurableObject(object(id));

async function leave(): Promise<void> {
  device.close();
  await device.closed;
  await vi.waitFor(async () =>
    expect(await (await world.person.ask(`/v1/devices/${id}`)).json()).toMatchObject({ state: "OFFLINE" }),
  );
}

async function comeBack(): Promise<void> {
  device = await AgentDevice.come(world.identity);
  answerAll(device);
}

async function byRest(): Promise<string> {
  const response = await ask(`/v1/devices/${id}/tools/Read`, json({}, bearer(token)));
  const { code = "success" } = await response.json<{ code?: string }>();
  return code;
}

async function bySocket(caller: TestCaller): Promise<string> {
  const { code = "success" } = await caller.call("Read");
  return code;
}

/** How many of so many tries succeed; each of the others must be refused for its rate. */
async function succeeded(tries: number, call: (n: number) => Promise<string>): Promise<number> {
  let count = 0;
  for (let n = 0; n < tries; n++) {
    const code = await call(n);
    if (code === "success") count++;
    else expect(code).toBe("RATE_LIMITED");
  }
  return count;
}

describe("gets exactly the rate", () => {
  let caller: TestCaller;

  it("who connects anew for each call", async () => {
    const calls = await succeeded(CALLS + 10, async () => {
      const caller = await connect();
      const code = await bySocket(caller);
      caller.close();
      await caller.closed;
      return code;
    });
    expect(calls).toBe(CALLS);
  });

  it("who calls over many sockets at once", async () => {
    const callers = await Promise.all(Array.from({ length: 8 }, connect));
    const counts = await Promise.all(callers.map((caller) => succeeded(5, () => bySocket(caller))));
    expect(counts.reduce((sum, count) => sum + count)).toBe(CALLS);
  });

  it("who calls by REST and by socket, also at once", async () => {
    caller = await connect();
    const counts = await Promise.all([
      succeeded(15, () => bySocket(caller)),
      succeeded(15, byRest),
      succeeded(15, byRest),
    ]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(CALLS);
  });

  it("who has the device reconnect after every few calls", async () => {
    const calls = await succeeded(CALLS + 10, async (n) => {
      if (n % 6 === 5) {
        await leave();
        await comeBack();
      }
      return byRest();
    });
    expect(calls).toBe(CALLS);
  });

  it("who has a second connection of the device take over, and the object sleep", async () => {
    const calls = await succeeded(CALLS + 10, async (n) => {
      if (n % 6 === 5) await comeBack();
      if (n === 12) await sleep();
      return byRest();
    });
    expect(calls).toBe(CALLS);
  });

  it.each([
    ["REST", () => byRest],
    ["a socket", () => async () => bySocket(caller)],
  ])("who calls by %s, and has the object sleep in between", async (_, way) => {
    caller = await connect();
    const call = way();
    const calls = await succeeded(CALLS + 5, async (n) => {
      if (n === 12) await sleep();
      return call();
    });
    expect(calls).toBe(CALLS);
  });

  it("who waits until the device is gone and the object sleeps", async () => {
    expect(await succeeded(12, byRest)).toBe(12);
    await leave();
    await sleep();
    await comeBack();
    expect(await succeeded(CALLS, byRest)).toBe(CALLS - 12);
  });

  it("who has the device drop out while the object sleeps", async () => {
    expect(await succeeded(7, byRest)).toBe(7);
    await sleep();
    await leave();
    await sleep();
    await comeBack();
    expect(await succeeded(CALLS, byRest)).toBe(CALLS - 7);
  });

  it("who waits: one more call each three seconds, and not more than all after a minute", async () => {
    caller = await connect();
    expect(await succeeded(CALLS + 5, byRest)).toBe(CALLS);
    vi.setSystemTime(Date.now() + 9_000);
    await sleep();
    expect(await succeeded(5, () => bySocket(caller))).toBe(3);
    vi.setSystemTime(Date.now() + 600_000);
    await sleep();
    await comeBack();
    expect(await succeeded(CALLS + 5, byRest)).toBe(CALLS);
  });
});

it("other grants have rates of their own, and the owner's is wider", async () => {
  expect(await succeeded(CALLS + 1, byRest)).toBe(CALLS);
  ({ token } = await world.person.token({ access: "read" }));
  expect(await succeeded(CALLS + 1, byRest)).toBe(CALLS);
  ({ token } = world);
  await world.person.setPolicy(id, { rates: { messages_per_second: 10_000 } });
  expect(await succeeded(100, byRest)).toBe(100);
});

it("the wait that a refusal tells is true, by header, body and frame", async () => {
  const caller = await connect();
  await succeeded(CALLS, byRest);
  const response = await ask(`/v1/devices/${id}/tools/Read`, json({}, bearer(token)));
  expect(response.status).toBe(429);
  expect(response.headers.get("Retry-After")).toBe("3");
  expect(await response.json()).toMatchObject({
    ...{ code: "RATE_LIMITED", hop: "relay", retry_after_ms: 3000 },
    hint: expect.stringContaining("Try again in 3 seconds"),
  });
  expect(await caller.call("Read")).toMatchObject({
    code: "RATE_LIMITED",
    metadata: { retry_after_ms: 6000 },
    hint: expect.stringContaining("Try again in 6 seconds"),
  });
  vi.setSystemTime(Date.now() + 2_999);
  expect(await byRest()).toBe("RATE_LIMITED");
  vi.setSystemTime(Date.now() + 1);
  expect(await byRest()).toBe("success");
  vi.setSystemTime(Date.now() + 3_000);
  expect(await bySocket(caller)).toBe("success");
});

it("reads write nothing to the storage but the record's mark while the device is connected, unless the rate is nearly used up", async () => {
  expect(await byRest()).toBe("success");
  const count = await runInDurableObject(object(id), (_, { storage }) => countRows(storage));
  expect(await succeeded(9, byRest)).toBe(9);
  expect(count.rows).toBe(0);
  expect(await succeeded(10, byRest)).toBe(10);
  expect(count.rows).toBeLessThanOrEqual(3);
});

it("messages that are no calls are counted too, over REST as on a socket", async () => {
  await world.person.setPolicy(id, {});
  const caller = await connect();
  for (let n = 0; n < 5; n++) caller.send({ action: "ping" });
  for (let n = 0; n < 5; n++) expect(await caller.nextJson()).toMatchObject({ type: "pong" });
  const read = () => ask(`/v1/devices/${id}/calls`, { headers: bearer(token) });
  for (let n = 0; n < 55; n++) expect((await read()).status).toBe(200);
  const refused = await read();
  expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, "1"]);
  caller.send({ action: "ping" });
  expect(await caller.nextJson()).toMatchObject({
    ...{ id: null, code: "RATE_LIMITED", metadata: { retry_after_ms: 34 } },
  });
});

it("an AI makes 60 calls at once by default, and the owner's figure at once where there is one", async () => {
  await world.person.setPolicy(id, {});
  expect(await succeeded(70, byRest)).toBe(60);
  await world.person.setPolicy(id, { rates: { messages_per_second: 10_000, calls_per_minute: 90 } });
  ({ token } = await world.person.token({ access: "read" }));
  expect(await succeeded(100, byRest)).toBe(90);
});

it("a bare device is told how long to wait", async () => {
  const bare = await world.person.bareDevice();
  const socket = await BareDevice.register(bare.id, bare.token);
  for (let n = 0; n < 11; n++) socket.send({ type: "user_query", query: "?" });
  for (let n = 0; n < 10; n++) await socket.expect("assistant_response");
  expect(await socket.expect("error")).toMatchObject({
    ...{ error_code: "RATE_LIMITED", details: { retry_after_ms: 100 } },
  });
  vi.setSystemTime(Date.now() + 100);
  socket.send({ type: "device_heartbeat" });
  await socket.expect("heartbeat_ack");
  socket.send({ type: "device_heartbeat" });
  vi.setSystemTime(Date.now() + 1000);
  expect(await socket.expect("error")).toMatchObject({
    ...{ error_code: "RATE_LIMITED", details: { retry_after_ms: expect.any(Number) } },
  });
});
