/** A grant that changes while it is in use: open connections follow, and every device that holds it learns of it. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { DeviceId, GrantId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type { NewToken } from "@matrx/shared/token-api.ts";
import { afterEach, expect, it, vi } from "vitest";
import { Leases } from "../../../worker/device/leases.ts";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice } from "../helpers/device.ts";
import { type Home, home, object } from "../helpers/home.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** What any device can be held to. */
const OPEN: Partial<NewToken> = { paths: null, ask: [], secrets: "open" };

interface Guest extends Home {
  /** The guest's, not the owner's. */
  grant: string;
  guest: TestCaller;
}

async function withGuest(wish: Partial<NewToken> = {}): Promise<Guest> {
  const house = await home();
  const { token, id } = await house.person.grant({ ...OPEN, ...wish });
  return { ...house, token, grant: id, guest: await TestCaller.connect(house.identity.id, token) };
}

it("holds an open socket to its new limits, also after a sleep", async () => {
  const { person, identity, device, grant, guest } = await withGuest();
  const changed = await person.change(grant, { effects: ["read"] });
  expect(changed).toMatchObject({ version: 2, devices_holding: 1, devices_acknowledged: 1 });
  await device.expect("session_end");
  expect(await guest.call("Bash", { command: "x" })).toMatchObject({ code: "PERMISSION_DENIED" });
  await evictDurableObject(object(identity.id));
  expect(await guest.call("Bash", { command: "x" })).toMatchObject({ code: "PERMISSION_DENIED" });
  await person.change(grant, { effects: ["read", "execute"], tools: ["Bash"] });
  const answer = guest.call("Bash", { command: "x" });
  const { grant: scope } = await device.serve("ran");
  expect(scope).toMatchObject({ id: grant, owner: false, tools: ["Bash"] });
  expect(await answer).toMatchObject({ output: "ran" });
});

it("stops the calls that it no longer allows, and lets others end", async () => {
  const { person, device, grant, guest } = await withGuest();
  guest.send({ id: "shell", tool: "Bash", input: {} });
  const shell = await device.expect("tool_execute");
  guest.send({ id: "read", tool: "Read", input: {} });
  const read = await device.expect("tool_execute");
  await person.change(grant, { tools: ["Read"] });
  expect(await guest.nextJson()).toMatchObject({ id: "shell", code: "PERMISSION_DENIED", hop: "relay" });
  expect(await device.expect("tool_cancel")).toMatchObject({ tool_call_id: shell.tool_call_id });
  device.answer(read, "text");
  expect(await guest.nextJson()).toMatchObject({ id: "read", output: "text" });
});

it.each([
  ["goes out under it", 2],
  ["is refused, if the device can't be held to it", 1],
])("a call that is not sent yet %s", async (_, protocol) => {
  const { person, identity, device: earlier, grant, guest } = await withGuest();
  earlier.close();
  await earlier.closed;
  const device = await AgentDevice.come(identity, { protocol });
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + TIMES.askAfter + 1000 });
  guest.send({ id: "waits", tool: "Read", input: { file_path: '","grant":{}' } });
  expect(await device.nextJson()).toMatchObject({ type: "call_status" });
  await person.change(grant, { effects: ["read"] });
  await device.expect("session_end");
  device.send({ type: "call_status", calls: [] });
  if (protocol === 1) expect(await guest.nextJson()).toMatchObject({ id: "waits", code: "UNAVAILABLE" });
  else expect(await device.expect("tool_execute")).toMatchObject({ grant: { effects: ["read"] } });
  expect(device.unread).toBe(0);
});

it("ends events that it no longer may read, and says so", async () => {
  const { person, device, grant, identity, token } = await withGuest();
  const listener = await TestCaller.connect(identity.id, token, { protocol: "matrx.v1" });
  await listener.nextJson();
  listener.send({ action: "events" });
  await person.change(grant, { paths: ["/srv"] });
  await device.expect("session_end");
  expect(await listener.nextJson()).toMatchObject({ id: null, code: "PERMISSION_DENIED" });
  device.send({ type: "event", event_type: "service_down", data: { service: "db" } });
  device.send({ type: "device_heartbeat" });
  await device.expect("heartbeat_ack");
  expect(listener.unread).toBe(0);
});

it("closes its sockets when it ends sooner than it was to", async () => {
  const { person, identity, grant, guest } = await withGuest({ days: 90 });
  const { expires } = await person.change(grant, { days: 1 });
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(expires) - 1000 });
  await runDurableObjectAlarm(object(identity.id));
  expect(guest.ws.readyState).toBe(WebSocket.OPEN);
  vi.setSystemTime(Date.parse(expires) + 1000);
  await runDurableObjectAlarm(object(identity.id));
  expect(await guest.closed).toMatchObject({ code: 4403, reason: "The token has expired" });
});

it.each<[change: object, ends: boolean]>([
  [{ effects: ["read"] }, true],
  [{ tools: ["Read"] }, true],
  [{ paths: ["/srv/a"] }, true],
  [{ denied_paths: ["/srv/a/x"] }, true],
  [{ network: [] }, true],
  [{ secrets: null }, true],
  [{ paths: ["/srv/a", "/srv/b", "/srv/c"] }, false],
  [{ network: ["a.example", "b.example"] }, false],
  [{ name: "other" }, false],
  [{ ask: [{ effects: ["execute"] }] }, false],
])("changed by %j: ends what its commands left running is %s", async (change, ends) => {
  const limits = { paths: ["/srv/a", "/srv/b"], network: ["a.example"] };
  const { person, device, grant, guest } = await withGuest(limits);
  const call = guest.call("Read", { file_path: "/srv/a/x" });
  await device.serve("text");
  await call;
  await person.change(grant, change);
  device.send({ type: "device_heartbeat" });
  if (ends) expect(await device.nextJson()).toEqual({ type: "session_end", grant, only: "commands" });
  await device.expect("heartbeat_ack");
});

it("ends what still runs under it once it has expired, also on a device that slept", async () => {
  const { person, identity, device, grant, guest } = await withGuest({ days: 1 });
  const call = guest.call("Bash", { command: "serve", run_in_background: true });
  await device.serve("started");
  await call;
  const { expires } = await person.details(grant);
  await evictDurableObject(object(identity.id));
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(expires) + 1000 });
  await runDurableObjectAlarm(env.ACCOUNT.getByName(person.account));
  expect(await device.expect("session_end")).toMatchObject({ grant });
});

it("can be made longer again, but not longer than its token", async () => {
  const { person, grant } = await withGuest({ days: 30 });
  const { expires: signed } = await person.details(grant);
  expect((await person.change(grant, { days: 1 })).expires < signed).toBe(true);
  expect((await person.change(grant, { days: 30 })).expires).toBe(signed);
  await expect(person.change(grant, { days: 40 })).rejects.toThrow("expires on");
});

it("is told to every device that holds it, to those that fail later", async () => {
  const person = await Person.signIn();
  const made = await person.grant({ ...OPEN, name: "everywhere" });
  const devices = await Promise.all([1, 2, 3, 4, 5].map((n) => person.bareDevice(`device ${n}`)));
  const callers = await Promise.all(devices.map(({ id }) => TestCaller.connect(id, made.token)));
  expect(await person.details(made.id)).toMatchObject({ devices_holding: 5, devices_acknowledged: 5 });
  const broken = devices.slice(0, 2).map(({ id }) => id);
  for (const id of broken)
    await runInDurableObject(object(id), (instance) => {
      // Above the class's own method: what the relay calls is this one.
      Object.setPrototypeOf(
        instance,
        Object.create(Object.getPrototypeOf(instance), {
          changeGrant: {
            value: () => {
              throw new Error("unreachable");
            },
          },
        }),
      );
    });
  const told = await person.change(made.id, { effects: ["read"] });
  expect(told).toMatchObject({ devices_holding: 5, devices_acknowledged: 3 });
  expect(told.holders.filter(({ acknowledged }) => !acknowledged).map(({ device }) => device)).toEqual(
    broken.sort(),
  );
  for (const id of broken)
    await runInDurableObject(object(id), (instance) => {
      Object.setPrototypeOf(instance, Object.getPrototypeOf(Object.getPrototypeOf(instance)));
    });
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 120_000 });
  await runInDurableObject(env.ACCOUNT.getByName(person.account), (account) => account.alarm());
  expect(await person.details(made.id)).toMatchObject({ version: 2, devices_acknowledged: 5 });
  for (const caller of callers)
    expect(await caller.call("open_app", { app: "x" })).toMatchObject({ code: "PERMISSION_DENIED" });
});

it("does not come back in an older version, neither late nor by an answer in flight", async () => {
  const { identity, grant, guest, person } = await withGuest();
  await person.change(grant, { effects: ["read"] });
  await runInDurableObject(object(identity.id), (device) =>
    device.changeGrant({
      scope: { id: grant as GrantId, owner: false, effects: ["read", "write", "execute"] },
      version: 1,
      expires: Date.now() + 60_000,
    }),
  );
  expect(await guest.call("Bash", {})).toMatchObject({ code: "PERMISSION_DENIED" });

  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const scope = { id: "grant_x" as GrantId, owner: false, effects: [] };
  const expires = Date.now() + 60_000;
  const pause = { paused: false, at: 0 };
  let given = 3;
  const lease = async () => {
    await answered;
    return { ok: true as const, value: { scope, version: given, expires, pause } };
  };
  const leases = new Leases({ getByName: () => ({ lease }) });
  const asking = () => leases.ask("ann" as never, "grant_x" as GrantId, "laptop-4k7m2x9qpa" as DeviceId);
  const versions: number[] = [];
  leases.onChanged = ({ version }) => versions.push(version);
  const changed = asking();
  leases.change({ scope: { ...scope, effects: ["read"] }, version: 4, expires }, Date.now());
  answer();
  expect(await changed).toMatchObject({ version: 4, scope: { effects: ["read"] } });
  const withdrawn = asking();
  leases.withdraw("grant_x" as GrantId, 5);
  await expect(withdrawn).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  // An answer that is newer than the news holds.
  const regained = asking();
  leases.withdraw("grant_x" as GrantId, 2);
  expect(await regained).toMatchObject({ version: 3 });
  // Whatever learns of a newer version, all that use the grant do.
  given = 6;
  await asking();
  expect(versions).toEqual([4, 6]);
});

it("never becomes the owner's, nor changes its kind", async () => {
  const { person, grant } = await withGuest();
  for (const change of [{ owner: true }, { credential: "script" }, { kind: "web" }, { id: "grant_y" }]) {
    const response = await person.ask(`/v1/tokens/${grant}`, { ...json(change), method: "PATCH" });
    expect(response.status).toBe(400);
  }
  await person.change(grant, {
    effects: ["read", "write", "execute"],
    ask: null,
    tools: null,
    paths: null,
    secrets: "open",
  });
  expect(await person.details(grant)).toMatchObject({ credential: "ai" });
});

it("of a signed-in person has nothing to change", async () => {
  const person = await Person.signIn();
  const { grant } = await (await person.ask("/v1/account")).json<{ grant: string }>();
  await expect(person.change(grant, { effects: ["read"] })).rejects.toThrow("409");
});

it("excepts a tool from its questions for good, and by name only", async () => {
  const { person, grant, device, guest } = await withGuest({
    ask: [{ effects: ["write"] }, { tools: ["Bash"] }],
  });
  const account = env.ACCOUNT.getByName(person.account);
  const { grant: self } = await (await person.ask("/v1/account")).json<{ grant: GrantId }>();
  const write = { tool: "Write", also: [] };
  const excepted = await account.exceptTool(self, grant as GrantId, write);
  expect(excepted).toMatchObject({
    ok: true,
    value: { version: 2, ask: [{ effects: ["write"], except: ["Write"] }, { tools: ["Bash"] }] },
  });
  expect(await person.details(grant)).toMatchObject({ version: 2, devices_acknowledged: 1 });
  const again = await account.exceptTool(self, grant as GrantId, write);
  expect(again).toMatchObject({ ok: true, value: { version: 2 } });
  for (const odd of [
    { tool: "*", also: [] },
    { tool: "Write", also: ["*"] },
    { tool: "ApplyPatch/Delete", also: [] },
  ])
    expect(await account.exceptTool(self, grant as GrantId, odd)).toMatchObject({ ok: false });
  expect(await account.exceptTool(grant as GrantId, grant as GrantId, write)).toMatchObject({
    ok: false,
    error: { code: "PERMISSION_DENIED" },
  });
  void guest.call("Read", {});
  expect((await device.expect("tool_execute")).grant).toMatchObject({ ask: [{ except: ["Write"] }, {}] });
});

it("of another account can be neither seen nor changed", async () => {
  const { grant } = await withGuest();
  const stranger = await Person.signIn();
  expect((await stranger.ask(`/v1/tokens/${grant}`)).status).toBe(404);
  await expect(stranger.change(grant, { effects: ["read"] })).rejects.toThrow("404");
});

it("for a tag follows the tags of devices", async () => {
  const person = await Person.signIn();
  const [work, play] = [await person.bareDevice("work"), await person.bareDevice("play")];
  expect(await (await person.tag(work.id, ["office"])).json()).toMatchObject({ tags: ["office"] });
  const { token, id: grant } = await person.grant({ ...OPEN, tags: ["office"] });
  const seen = async () => {
    const list = await (await ask("/v1/devices", { headers: bearer(token) })).json<{
      devices: { name: string }[];
    }>();
    return list.devices.map(({ name }) => name);
  };
  expect(await seen()).toEqual(["work"]);
  await expect(TestCaller.connect(play.id, token)).rejects.toThrow("403");

  const caller = await TestCaller.connect(work.id, token);
  expect(await person.details(grant)).toMatchObject({ devices_holding: 1 });
  await person.tag(work.id, []);
  expect(await caller.closed).toMatchObject({ code: 4403 });
  await expect(TestCaller.connect(work.id, token)).rejects.toThrow("403");
  expect(await person.details(grant)).toMatchObject({ devices_holding: 0, version: 2 });

  await person.tag(work.id, ["office", "linux"]);
  await person.tag(play.id, ["office"]);
  expect(await seen()).toEqual(["work", "play"]);
  await TestCaller.connect(work.id, token);
  await TestCaller.connect(play.id, token);
  expect(await person.details(grant)).toMatchObject({ devices_holding: 2, devices_acknowledged: 2 });
  const moved = await person.change(grant, { tags: null, devices: [play.id] });
  expect(moved).toMatchObject({ devices_holding: 1, holders: [{ device: play.id }] });
  await expect(TestCaller.connect(work.id, token)).rejects.toThrow("403");
});

it("for a tag keeps its name, and tags are plain words", async () => {
  const person = await Person.signIn();
  const { id } = await person.bareDevice("old");
  await person.tag(id, ["a"]);
  expect(await (await person.rename(id, "new")).json()).toMatchObject({ name: "new", tags: ["a"] });
  for (const tag of ["", "With Space", "*", "x".repeat(33)])
    expect((await person.tag(id, [tag])).status).toBe(400);
});
