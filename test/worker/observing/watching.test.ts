/** The activity feed: a person's screen sees every call on the account's devices, and nobody else does. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { toPersonSchema } from "@matrx/shared/account-frames.ts";
import type { ActivityEntry, StartedCall } from "@matrx/shared/activity.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { TestScreen } from "../helpers/approvals.ts";
import { pairAgent } from "../helpers/device.ts";
import { type Home, home, object } from "../helpers/home.ts";
import { bearer, type Person } from "../helpers/relay.ts";

interface Frame {
  readonly type: string;
  readonly device?: string;
  readonly calls?: StartedCall[] | null;
  readonly entries?: ActivityEntry[];
  readonly missed?: number;
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A screen that is open, and has read its greeting. */
async function screenOf(person: Person): Promise<TestScreen> {
  const screen = await TestScreen.open(bearer(person.accessToken));
  expect(await screen.nextJson()).toMatchObject({ type: "hello" });
  return screen;
}

/** Watches; returns what runs on the devices, by device. */
async function watch(screen: TestScreen, devices = 1): Promise<Map<string, StartedCall[] | null>> {
  screen.send({ action: "watch" });
  expect(await screen.nextJson()).toMatchObject({ type: "watching", until: expect.any(String) });
  const running = new Map<string, StartedCall[] | null>();
  while (running.size < devices) {
    const frame = toPersonSchema.parse(await screen.nextJson());
    if (frame.type !== "running") throw new Error(JSON.stringify(frame));
    running.set(frame.device, frame.calls);
  }
  return running;
}

async function entry(screen: TestScreen): Promise<ActivityEntry | undefined> {
  const frame = toPersonSchema.parse(await screen.nextJson());
  if (frame.type !== "activity") throw new Error(JSON.stringify(frame));
  return frame.entries[0];
}

/** The answer comes after all that was sent before. */
async function nothingMore(screen: TestScreen): Promise<void> {
  screen.send({ action: "ping" });
  expect(await screen.nextJson()).toEqual({ type: "pong" });
}

async function watchedHome(): Promise<Home & { screen: TestScreen }> {
  const house = await home();
  const screen = await screenOf(house.person);
  expect(await watch(screen)).toEqual(new Map([[house.identity.id, []]]));
  return { ...house, screen };
}

it("shows what runs already, then what begins, and how it ends", async () => {
  const { person, identity, device, caller } = await home();
  caller.send({ id: "1", tool: "Bash", input: { command: "make" } });
  const first = await device.expect("tool_execute");
  const screen = await screenOf(person);
  expect((await watch(screen)).get(identity.id)).toMatchObject([
    {
      ...{ type: "started", call: first.tool_call_id, device: identity.id, tool: "Bash" },
      ...{ input: { command: "make" }, grant: { name: "test" } },
    },
  ]);
  device.answer(first, "made", { exit: 0, preview: "made" });
  expect(await entry(screen)).toMatchObject({
    ...{ type: "finished", call: first.tool_call_id, status: "success", exit: 0, preview: "made" },
  });
  await caller.nextJson();
  caller.send({ id: "2", tool: "Read", input: { file_path: "/a" } });
  const second = await device.expect("tool_execute");
  expect(await entry(screen)).toMatchObject({ type: "started", call: second.tool_call_id, tool: "Read" });
});

it("goes on after all objects slept", async () => {
  const { person, identity, device, caller, screen } = await watchedHome();
  for (const one of [object(identity.id), env.ACCOUNT.getByName(person.account)])
    await evictDurableObject(one);
  caller.send({ id: "1", tool: "Bash", input: { command: "make" } });
  await device.expect("tool_execute");
  expect(await entry(screen)).toMatchObject({ type: "started", tool: "Bash" });
});

it("shows what runs although nobody has waited for it since the object slept", async () => {
  const { person, identity, device, caller } = await home();
  caller.send({ id: "1", tool: "Bash", input: { command: "make" } });
  const { tool_call_id } = await device.expect("tool_execute");
  caller.close();
  await caller.closed;
  await evictDurableObject(object(identity.id));
  expect((await watch(await screenOf(person))).get(identity.id)).toMatchObject([
    { call: tool_call_id, tool: "Bash", effect: "execute" },
  ]);
});

it("covers all devices of the account; one that cannot be asked is named", async () => {
  const { person, identity } = await home();
  const broken = await pairAgent(person, "broken");
  const { Device } = await import("../../../worker/device/device.ts");
  const asked = Device.prototype.watch;
  vi.spyOn(Device.prototype, "watch").mockImplementation(function (this: InstanceType<typeof Device>, until) {
    if (this.ctx.id.name === broken.id) throw new Error("broken");
    return asked.call(this, until);
  });
  expect(await watch(await screenOf(person), 2)).toEqual(
    new Map([
      [identity.id, []],
      [broken.id, null],
    ]),
  );
});

describe("is not sent", () => {
  it("to a screen that did not ask, nor to other accounts", async () => {
    const { person, device, caller, screen } = await watchedHome();
    const other = await watchedHome();
    const silent = await screenOf(person);
    caller.send({ id: "1", tool: "Read", input: {} });
    await device.expect("tool_execute");
    await entry(screen);
    await nothingMore(silent);
    await nothingMore(other.screen);
  });

  it("once the time is over, until the screen asks again", async () => {
    const { device, caller, screen } = await watchedHome();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 4 * 60_000 });
    device.send({ type: "device_heartbeat" });
    await device.expect("heartbeat_ack");
    const answering = caller.call("Read", {});
    await device.serve("");
    await answering;
    await nothingMore(screen);
    await watch(screen);
    caller.send({ id: "2", tool: "Read", input: {} });
    await device.expect("tool_execute");
    expect(await entry(screen)).toMatchObject({ type: "started" });
  });

  it("of a device that was removed", async () => {
    const { person, identity, screen } = await watchedHome();
    await person.ask(`/v1/devices/${identity.id}`, { method: "DELETE" });
    const entry = { type: "started", at: "", call: "", device: identity.id } as never;
    await env.ACCOUNT.getByName(person.account).noteActivity(identity.id as never, [entry]);
    await nothingMore(screen);
  });

  it("when the session was revoked", async () => {
    const { person, device, caller, screen } = await watchedHome();
    await person.ask("/v1/sign-out", { method: "POST" });
    expect((await screen.closed).code).toBe(4403);
    caller.send({ id: "1", tool: "Read", input: {} });
    await device.expect("tool_execute");
    expect(screen.unread).toBe(0);
  });
});

it("asks the devices again only so often, however often a screen asks", async () => {
  const { person, screen } = await watchedHome();
  const { Device } = await import("../../../worker/device/device.ts");
  const asked = vi.spyOn(Device.prototype, "watch");
  for (let times = 0; times < 20; times++) screen.send({ action: "watch" });
  for (let times = 0; times < 20; times++)
    expect(await screen.nextJson<Frame>()).toMatchObject({ type: "watching" });
  await nothingMore(screen);
  expect(asked).not.toHaveBeenCalled();
  expect((await person.ask("/v1/account")).status).toBe(200);
});

it("a device writes nothing for it while nobody watches", async () => {
  const { identity, device, caller } = await home();
  const answering = caller.call("Read", {});
  await device.serve("");
  await answering;
  const kept = await runInDurableObject(object(identity.id), (_, { storage }) =>
    storage.kv.get("watched_until"),
  );
  expect(kept).toBeUndefined();
});
