/** Stop everything: what AI grants do ends, and they may do nothing until their owner resumes. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { cancelledCallsSchema, PauseView } from "@matrx/shared/pause-api.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import type * as z from "zod";
import { type AskedHome, approvalOf, askedHome, askFor, decide, TestScreen } from "../helpers/approvals.ts";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice, pairAgent } from "../helpers/device.ts";
import { object } from "../helpers/home.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

type Cancelled = z.infer<typeof cancelledCallsSchema>;

const REFUSED = { code: "PERMISSION_DENIED", hop: "relay", metadata: { reason: "PAUSED", paused: "ai" } };
const STOPPED = { code: "CANCELLED", hop: "relay", metadata: { reason: "PAUSED", paused: "ai" } };

afterEach(() => {
  vi.useRealTimers();
});

function stop(person: Person): Promise<PauseView> {
  return person.post("/v1/pause", { paused: true });
}

function resume(person: Person): Promise<PauseView> {
  return person.post("/v1/pause", { paused: false });
}

/** An AI grant that is asked nothing. */
async function freeHome(): Promise<AskedHome> {
  return askedHome({ owner: false, effects: ["read", "write", "execute"], ask: [] });
}

/** What the AI gets over REST. */
async function overRest({ identity, token }: AskedHome, path: string, init: RequestInit = {}) {
  const headers = { ...bearer(token), ...(init.headers as Record<string, string>) };
  const response = await ask(`/v1/devices/${identity.id}${path}`, { ...init, headers });
  return { status: response.status, body: await response.json<Record<string, unknown>>() };
}

describe("a stop", () => {
  it("ends the calls of AI grants, and leaves the owner's alone", async () => {
    const home = await freeHome();
    const { person, identity, device, caller, grant } = home;
    const own = await TestCaller.connect(identity.id, (await person.token({ access: "full" })).token);
    own.send({ id: "own", tool: "Bash", input: {} });
    const ours = await device.expect("tool_execute");
    caller.send({ id: "ai", tool: "Bash", input: {} });
    const theirs = await device.expect("tool_execute");
    expect(await caller.nextJson()).toMatchObject({ id: "ai", type: "accepted" });

    expect(await stop(person)).toMatchObject({
      ...{ paused: true, changed_by: "A browser", devices: 1, devices_told: 1 },
    });
    expect(await caller.nextJson()).toMatchObject({ id: "ai", type: "error", ...STOPPED });
    expect(await device.expect("tool_cancel")).toMatchObject({ tool_call_id: theirs.tool_call_id });
    expect(await device.expect("session_end")).toMatchObject({ grant });
    device.answer(ours, "mine");
    expect(await own.nextJson()).toMatchObject({ id: "own", type: "success" });
    expect(device.unread).toBe(0);
  });

  it("keeps the outcome of what it ended for the owner, and gives it to the AI only afterwards", async () => {
    const home = await freeHome();
    const { person, identity, device, caller } = home;
    caller.send({ id: "ai", tool: "Bash", input: {} });
    const theirs = await device.expect("tool_execute");
    await stop(person);
    device.answer(theirs, "half", { status: "cancelled", code: "CANCELLED" }, { code: "CANCELLED" });
    const record = `/calls/${theirs.tool_call_id}`;
    await expect
      .poll(async () => (await person.ask(`/v1/devices/${identity.id}${record}`)).json())
      .toMatchObject({ state: "finished", status: "cancelled", outcome: { output: "half" } });
    for (const path of [record, "/calls", "/events"])
      expect(await overRest(home, path)).toMatchObject({ status: 403, body: { reason: "PAUSED" } });
    await resume(person);
    expect((await overRest(home, record)).body).toMatchObject({ outcome: { output: "half" } });
  });

  it("drops what waits for a person: nothing of it can be allowed any more", async () => {
    const home = await askedHome();
    const { person, device, caller } = home;
    const { approval } = await askFor(home, "1");
    await stop(person);
    expect(await caller.nextJson()).toMatchObject({ id: "1", ...STOPPED });
    expect(await approvalOf(home, approval)).toMatchObject({ state: "cancelled" });
    expect((await decide(home, approval, { decision: "allow" })).status).toBe(409);
    await resume(person);
    expect((await decide(home, approval, { decision: "allow" })).status).toBe(409);
    expect((await device.expect("session_end")).grant).toBe(home.grant);
    expect(device.unread).toBe(0);
  });

  it("takes back what was allowed for an hour", async () => {
    const home = await askedHome();
    const { person, device, caller } = home;
    const { approval } = await askFor(home, "1");
    await decide(home, approval, { decision: "allow", for: "hour" });
    await caller.nextJson();
    await device.serve("done");
    await caller.nextJson();
    await stop(person);
    await device.expect("session_end");
    await resume(person);
    expect(await askFor(home, "2")).toMatchObject({ state: "pending" });
  });
});

describe("while it lasts", () => {
  it("an AI is refused on its open socket and over REST, and nothing reaches the device", async () => {
    const home = await freeHome();
    const { person, device, caller } = home;
    await stop(person);
    await device.expect("session_end");
    expect(await caller.call("Bash", {})).toMatchObject({ type: "error", ...REFUSED });
    expect(await caller.call("Read", {})).toMatchObject({ type: "error", ...REFUSED });
    const refused = { status: 403, body: { code: "PERMISSION_DENIED", reason: "PAUSED" } };
    expect(await overRest(home, "/tools/Bash", json({}))).toMatchObject(refused);
    const events = json({}, { Accept: "text/event-stream" });
    expect(await overRest(home, "/tools/Bash", events)).toMatchObject(refused);
    const byGuide = await overRest(home, "/tools/invoke", json({ tool: "Bash", input: {} }));
    expect(byGuide).toMatchObject({ status: 200, body: { type: "error", ...REFUSED } });
    caller.send({ action: "ping" });
    expect(await caller.nextJson()).toEqual({ type: "pong" });
    expect(device.unread).toBe(0);

    expect(await resume(person)).toMatchObject({ paused: false, devices_told: 1 });
    const answering = caller.call("SystemInfo");
    await device.serve("back");
    expect(await answering).toMatchObject({ output: "back" });
  });

  it("it holds for grants and devices that are new, and after all objects were restarted", async () => {
    const home = await freeHome();
    const { person, identity } = home;
    await stop(person);
    await evictDurableObject(object(identity.id));
    await person.ask("/v1/account");
    await evictDurableObject(env.ACCOUNT.getByName(person.account));
    expect(await (await person.ask("/v1/pause")).json()).toMatchObject({ paused: true });
    expect(await home.caller.call("Read", {})).toMatchObject(REFUSED);

    const other = await pairAgent(person, "other");
    const second = await AgentDevice.come(other);
    const { token } = await person.grant({ paths: null, ask: [], secrets: "open" });
    const caller = await TestCaller.connect(other.id, token);
    expect(await caller.call("Read", {})).toMatchObject(REFUSED);
    expect(second.unread).toBe(0);
  });

  it("it is not for other accounts", async () => {
    const [one, other] = [await freeHome(), await freeHome()];
    await stop(one.person);
    const answering = other.caller.call("SystemInfo");
    await other.device.serve("on");
    expect(await answering).toMatchObject({ output: "on" });
    expect(other.device.unread).toBe(0);
  });

  it("a socket that reads events gets them only afterwards", async () => {
    const { person, device, caller } = await freeHome();
    caller.send({ action: "events" });
    await stop(person);
    await device.expect("session_end");
    device.send({ type: "event", event_type: "disk_low" });
    device.send({ type: "device_heartbeat" });
    await device.expect("heartbeat_ack");
    caller.send({ action: "ping" });
    expect(await caller.nextJson()).toEqual({ type: "pong" });
    await resume(person);
    expect(await caller.nextJson()).toMatchObject({ type: "event", event: { event_type: "disk_low" } });
  });
});

describe("a device", () => {
  it("that was away has its jobs ended when it is back", async () => {
    const { person, identity, device, grant } = await freeHome();
    device.close();
    await device.closed;
    await stop(person);
    await resume(person);
    const back = await AgentDevice.come(identity, { protocol: 2 });
    expect(await back.expect("session_end")).toMatchObject({ grant });
  });

  it("whose object could not write stops at once, and is told again until it has", async () => {
    const { person, identity, device, caller, grant } = await freeHome();
    device.close();
    await device.closed;
    const write = await runInDurableObject(object(identity.id), (_, { storage: { kv } }) => {
      const put = kv.put.bind(kv);
      kv.put = (key: string, value: unknown) => {
        if (key.startsWith("ended:")) throw new Error("database or disk is full");
        put(key, value);
      };
      return () => Object.assign(kv, { put });
    });
    expect(await stop(person)).toMatchObject({ devices: 1, devices_told: 0 });
    expect(await caller.call("Read", {})).toMatchObject(REFUSED);
    await runInDurableObject(object(identity.id), write);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2000 });
    await runInDurableObject(env.ACCOUNT.getByName(person.account), (account) => account.alarm());
    expect(await (await person.ask("/v1/pause")).json()).toMatchObject({ devices_told: 1 });
    const back = await AgentDevice.come(identity, { protocol: 2 });
    expect(await back.expect("session_end")).toMatchObject({ grant });
  });

  it("that the news did not reach learns it with its next lease", async () => {
    const { person, identity, device, caller } = await freeHome();
    const account = env.ACCOUNT.getByName(person.account);
    await runInDurableObject(account, (_, { storage: { kv } }) =>
      kv.put("pause", { paused: true, at: Date.now(), stopped: Date.now(), by: "A browser" }),
    );
    caller.send({ id: "1", tool: "Read", input: {} });
    await device.expect("tool_execute");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 11 * 60_000 });
    device.send({ type: "device_heartbeat" });
    await device.expect("heartbeat_ack");
    caller.send({ action: "ping" });
    expect(await caller.nextJson()).toEqual({ type: "pong" });
    expect(await caller.nextJson()).toMatchObject({ id: "1", ...STOPPED });
    expect(await caller.call("Read", {})).toMatchObject(REFUSED);
    const { paused } = await (await person.ask(`/v1/devices/${identity.id}`)).json<{ paused: unknown }>();
    expect(paused).toBeNull();
  });

  it("ignores news that is older than what it knows", async () => {
    const { person, identity, device, caller } = await freeHome();
    await stop(person);
    await device.expect("session_end");
    const old = { paused: false, at: 1, stopped: 0, grants: [] };
    await object(identity.id).setPause(old);
    expect(await caller.call("Read", {})).toMatchObject(REFUSED);
  });

  it("that the relay does not know stores nothing", async () => {
    const stranger = env.DEVICE.getByName("laptop-aaaaaaaaaa");
    await stranger.setPause({ paused: true, at: 5, stopped: 5, grants: [] });
    const keys = await runInDurableObject(stranger, (_, { storage }) => [...storage.kv.list()].length);
    expect(keys).toBe(0);
  });
});

it("all open screens are told, and one that opens later", async () => {
  const person = await Person.signIn();
  const open = () => TestScreen.open(bearer(person.accessToken));
  const screens = [await open(), await open()];
  for (const screen of screens)
    expect(await screen.nextJson()).toMatchObject({ type: "hello", pause: { paused: false, changed: null } });
  await stop(person);
  for (const screen of screens)
    expect(await screen.nextJson()).toMatchObject({ type: "paused", pause: { paused: true } });
  expect(await (await open()).nextJson()).toMatchObject({ type: "hello", pause: { paused: true } });
});

it("a second resume changes nothing, a second stop stops once more", async () => {
  const person = await Person.signIn();
  expect(await resume(person)).toMatchObject({ paused: false, changed: null });
  const first = await stop(person);
  const second = await stop(person);
  expect(Date.parse(second.changed ?? "")).toBeGreaterThan(Date.parse(first.changed ?? ""));
});

it("an AI cannot resume, nor ask whether it is paused", async () => {
  const { person, token } = await freeHome();
  const script = await person.token({ access: "full" });
  await stop(person);
  for (const one of [token, script.token]) {
    const refused = await ask("/v1/pause", json({ paused: false }, bearer(one)));
    expect([refused.status, (await ask("/v1/pause", { headers: bearer(one) })).status]).toEqual([403, 403]);
  }
  expect(await (await person.ask("/v1/pause")).json()).toMatchObject({ paused: true });
});

it.each([{}, { paused: "yes" }, { paused: true, device: "x" }])("a body like %j is refused", async (body) => {
  const person = await Person.signIn();
  expect((await person.ask("/v1/pause", json(body))).status).toBe(400);
  expect(await (await person.ask("/v1/pause")).json()).toMatchObject({ paused: false });
});

describe("cancelling all calls", () => {
  const cancel = (person: Person, which: object = {}) => person.post<Cancelled>("/v1/calls/cancel", which);

  it("stops those of every caller, those that wait for a person too", async () => {
    const home = await askedHome();
    const { person, identity, device, caller } = home;
    const own = await TestCaller.connect(identity.id, (await person.token({ access: "full" })).token);
    own.send({ id: "own", tool: "Bash", input: {} });
    const execute = await device.expect("tool_execute");
    await askFor(home, "ai");
    expect(await cancel(person)).toEqual({ cancelled: 2, devices: 1, unreachable: [] });
    expect(await caller.nextJson()).toMatchObject({ id: "ai", code: "CANCELLED" });
    expect(await device.expect("tool_cancel")).toMatchObject({ tool_call_id: execute.tool_call_id });
    device.answer(execute, "partly", { status: "cancelled", code: "CANCELLED" }, { code: "CANCELLED" });
    expect(await own.nextJson()).toMatchObject({ id: "own", output: "partly" });
    expect(await cancel(person)).toEqual({ cancelled: 0, devices: 1, unreachable: [] });
  });

  it("stops only those of a grant, or on a device", async () => {
    const { person, identity, device, caller, grant } = await freeHome();
    const other = await pairAgent(person, "other");
    const script = await person.token({ access: "full" });
    const own = await TestCaller.connect(identity.id, script.token);
    caller.send({ id: "ai", tool: "Read", input: {} });
    own.send({ id: "own", tool: "Read", input: {} });
    const [theirs] = [await device.expect("tool_execute"), await device.expect("tool_execute")];
    expect(await cancel(person, { device: other.id })).toMatchObject({ cancelled: 0, devices: 1 });
    expect(await cancel(person, { grant })).toMatchObject({ cancelled: 1, devices: 2 });
    expect(await device.expect("tool_cancel")).toMatchObject({ tool_call_id: theirs.tool_call_id });
    expect(device.unread).toBe(0);
  });

  it("reaches a call whose caller left before the object slept", async () => {
    const { person, identity, device, caller } = await freeHome();
    caller.send({ id: "1", tool: "Bash", input: {} });
    const { tool_call_id } = await device.expect("tool_execute");
    caller.close();
    await caller.closed;
    await evictDurableObject(object(identity.id));
    expect(await cancel(person)).toMatchObject({ cancelled: 1 });
    expect(await device.expect("tool_cancel")).toMatchObject({ tool_call_id });
  });

  it("is refused for devices and grants that are not one's own, and to tokens", async () => {
    const { person, token } = await freeHome();
    const other = await freeHome();
    const refused = async (which: object) => (await person.ask("/v1/calls/cancel", json(which))).status;
    expect(await refused({ device: other.identity.id })).toBe(404);
    expect(await refused({ grant: other.grant })).toBe(404);
    expect(await refused({ devices: [] })).toBe(400);
    expect((await ask("/v1/calls/cancel", json({}, bearer(token)))).status).toBe(403);
    expect(other.device.unread).toBe(0);
  });
});
