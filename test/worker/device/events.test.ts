/** Events: what a device reports is kept, read and told live, and no device can flood the relay with it. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { type EventList, type EventView, eventListSchema } from "@matrx/shared/api.ts";
import type { DeviceEvent } from "@matrx/shared/events.ts";
import { makeEventId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { describe, expect, it } from "vitest";
import type { CallerAttachment } from "../../../worker/device/callers/session.ts";
import { Events } from "../../../worker/device/event-log.ts";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice, BareDevice } from "../helpers/device.ts";
import { HEALTHY, type Home, home, object } from "../helpers/home.ts";
import { bearer, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";
import { countRows } from "../helpers/written-rows.ts";

type Report = Omit<DeviceEvent, "type">;

const FULL: Report = { event_type: "low_disk_space", severity: "warning", key: "/", data: { free_gb: 5.2 } };
const OVER: Report = { event_type: "low_disk_space", severity: "info", key: "/", resolved: true };

let minted = Date.now();

/** An event as our agent names it: each later than the one before. */
function named(report: Report): Report {
  minted++;
  return { ...report, id: makeEventId(minted) };
}

function report(device: BareDevice, event: Report): void {
  device.send({ type: "event", ...event });
}

async function read(id: string, token: string, query = ""): Promise<EventList> {
  const response = await ask(`/v1/devices/${id}/events${query}`, { headers: bearer(token) });
  expect(response.status).toBe(200);
  return eventListSchema.parse(await response.json());
}

/** The relay has read what the device sent before. */
async function heard(device: BareDevice): Promise<void> {
  device.send({ type: "user_query", query: "?" });
  await device.expect("assistant_response");
}

async function watcher({ identity, token }: Home, after?: string): Promise<TestCaller> {
  const caller = await TestCaller.connect(identity.id, token, { protocol: "matrx.v1" });
  await caller.nextJson();
  caller.send({ action: "events", ...(after && { after }) });
  caller.send({ action: "ping" });
  return caller;
}

async function pong(caller: TestCaller): Promise<void> {
  expect(await caller.nextJson()).toEqual({ type: "pong" });
}

/** Rows of events as they would be had they come earlier. */
function age(id: string, ms: number): Promise<unknown> {
  return runInDurableObject(object(id), (_, { storage: { sql } }) =>
    sql.exec("UPDATE events SET received = received - ?1, taken_until = taken_until - ?1", ms),
  );
}

function numbered(count: number): Report[] {
  return Array.from({ length: count }, (_, n) => ({ event_type: "error_occurred", data: { n } }));
}

/** The object falls asleep, and finds its callers' sockets changed when it wakes. */
async function asleep(id: string, change: (attachment: CallerAttachment) => void): Promise<void> {
  await runInDurableObject(object(id), (_, state) => {
    for (const ws of state.getWebSockets("caller")) {
      const attachment = ws.deserializeAttachment();
      change(attachment);
      ws.serializeAttachment(attachment);
    }
  });
  await evictDurableObject(object(id));
}

describe("an event of a device", () => {
  it("of the document is kept as it came, with the device's time and the relay's", async () => {
    const person = await Person.signIn();
    const { id, token: deviceToken } = await person.bareDevice();
    const { token } = await person.token({ access: "read" });
    const device = await BareDevice.register(id, deviceToken);
    const data = { drive: "C:", free_gb: 5.2, total_gb: 512, percentage_free: 1.0 };
    const timestamp = "2026-02-12T10:45:00Z";
    report(device, { device_id: id, event_type: "low_disk_space", severity: "warning", data, timestamp });
    await heard(device);
    const { events, dropped } = await read(id, token);
    expect(events).toMatchObject([
      { event_type: "low_disk_space", severity: "warning", data, timestamp, key: null, open: false },
    ]);
    expect(Date.parse(events[0]?.received ?? "")).toBeGreaterThan(Date.now() - 60_000);
    expect(dropped).toBe(0);
  });

  it("may be of a type, severity and fields of its own", async () => {
    const person = await Person.signIn();
    const { id, token: deviceToken } = await person.bareDevice();
    const { token } = await person.token({ access: "read" });
    const device = await BareDevice.register(id, deviceToken);
    const data = { bericht: "Voordeur geopend", kamers: ["hal"], sinds: null };
    device.send({ type: "event", event_type: "deur_open", severity: "ernstig", data, gebruiker: "ann" });
    device.send({ type: "event", event_type: "deur_dicht", id: 17, key: { kamer: "hal" }, resolved: "ja" });
    await heard(device);
    const { events } = await read(id, token);
    expect(events).toMatchObject([
      { event_type: "deur_open", severity: "ernstig", data, timestamp: null },
      { event_type: "deur_dicht", severity: null, data: {}, key: null, resolved: false },
    ]);
  });

  it("is kept once however often it is sent, after a reconnect and a sleep too", async () => {
    const { identity, device, token } = await home();
    const event = named(FULL);
    report(device, event);
    report(device, event);
    await heard(device);
    await evictDurableObject(object(identity.id));
    report(device, event);
    const again = await AgentDevice.come(identity);
    report(again, event);
    await heard(again);
    expect((await read(identity.id, token)).events).toMatchObject([event]);
  });

  it("that is larger than 8 KiB is refused, and the connection lives", async () => {
    const { identity, device, token } = await home();
    report(device, { event_type: "error_occurred", data: { text: "é".repeat(LIMITS.eventDataBytes / 2) } });
    expect(await device.expect("error")).toMatchObject({
      error_code: "PAYLOAD_TOO_LARGE",
      details: { limit_bytes: LIMITS.eventDataBytes },
    });
    const text = "x".repeat(LIMITS.eventDataBytes - 11);
    report(device, { event_type: "error_occurred", data: { text } });
    await heard(device);
    expect((await read(identity.id, token)).events).toMatchObject([{ data: { text } }]);
  });

  it("goes with its device", async () => {
    const { person, identity, device } = await home();
    report(device, named(FULL));
    await heard(device);
    expect((await person.ask(`/v1/devices/${identity.id}`, { method: "DELETE" })).status).toBe(204);
    const tables = await runInDurableObject(object(identity.id), (_, { storage: { sql } }) =>
      sql.exec("SELECT name FROM sqlite_master WHERE name = 'events'").toArray(),
    );
    expect(tables).toEqual([]);
    expect((await person.ask(`/v1/devices/${identity.id}/events`)).status).toBe(404);
  });
});

describe("a condition", () => {
  async function alerts({ person, identity }: Home): Promise<unknown> {
    return (await (await person.ask(`/v1/devices/${identity.id}`)).json<{ alerts: number }>()).alerts;
  }

  it("is open until the device says that it is over, and counted with the device", async () => {
    const place = await home();
    const { identity, device, token } = place;
    expect(await alerts(place)).toBe(0);
    report(device, named(FULL));
    report(device, named({ ...FULL, key: "/data" }));
    report(device, { event_type: "new_file_detected", data: { name: "a.txt" } });
    await heard(device);
    expect(await alerts(place)).toBe(2);
    await evictDurableObject(object(identity.id));
    expect(await alerts(place)).toBe(2);
    report(device, named(OVER));
    await heard(device);
    expect(await alerts(place)).toBe(1);
    const { events } = await read(identity.id, token);
    expect(events.map(({ key, open, resolved }) => [key, open, resolved])).toEqual([
      ["/", false, false],
      ["/data", true, false],
      [null, false, false],
      ["/", false, true],
    ]);
  });

  it("that is reported again is open once, and what is sent late changes nothing", async () => {
    const place = await home();
    const { identity, device, token } = place;
    const [lost, first, second, over] = [
      named(FULL),
      named(FULL),
      named({ ...FULL, severity: "critical" }),
      named(OVER),
    ];
    report(device, first);
    report(device, second);
    report(device, lost);
    await heard(device);
    const open = async () => (await read(identity.id, token)).events.filter((event) => event.open);
    expect((await open()).map(({ id }) => id)).toEqual([second.id]);
    report(device, over);
    report(device, named({ ...FULL, id: undefined, key: "/other" }));
    report(device, { ...FULL, id: makeEventId(minted - 1000) });
    await heard(device);
    expect((await open()).map(({ key }) => key)).toEqual(["/other"]);
    expect(await alerts(place)).toBe(1);
  });
});

describe("a device whose clock was wrong and is set", () => {
  const HOURS = 2 * 60 * 60_000;

  it.each([
    ["ahead", HOURS, 0],
    ["behind", -HOURS, 0],
    ["right before, and is behind now", 0, -HOURS],
  ])("and was %s still ends what it began", async (_, then, now) => {
    const { identity, device, token } = await home();
    report(device, { ...FULL, id: makeEventId(Date.now() + then) });
    report(device, { ...OVER, id: makeEventId(Date.now() + now + 1) });
    await heard(device);
    expect((await read(identity.id, token)).events.map(({ open }) => open)).toEqual([false, false]);
  });

  it("and was ahead can begin it anew, and end that", async () => {
    const { identity, device, token } = await home();
    report(device, { ...FULL, id: makeEventId(Date.now() + HOURS) });
    report(device, { ...OVER, id: makeEventId(Date.now() + HOURS + 1) });
    report(device, { ...FULL, id: makeEventId(Date.now()) });
    await heard(device);
    const open = async () => (await read(identity.id, token)).events.map((event) => event.open);
    expect(await open()).toEqual([false, false, true]);
    report(device, { ...OVER, id: makeEventId(Date.now() + 1) });
    await heard(device);
    expect(await open()).toEqual([false, false, false, false]);
  });
});

describe("a device in trouble", () => {
  it("keeps twenty at once, is told once that there are too many, and the next event says how many were dropped", async () => {
    const { identity, device, token } = await home();
    for (const event of numbered(30)) report(device, event);
    expect(await device.expect("error")).toMatchObject({ error_code: "RATE_LIMITED" });
    await heard(device);
    const flooded = await read(identity.id, token);
    expect(flooded.events.map(({ data }) => data.n)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(flooded.dropped).toBe(10);

    await age(identity.id, TIMES.eventEvery);
    report(device, { event_type: "error_occurred", data: { n: 30 } });
    report(device, { event_type: "error_occurred", data: { n: 31 } });
    expect(await device.expect("error")).toMatchObject({ error_code: "RATE_LIMITED" });
    await heard(device);
    const later = await read(identity.id, token);
    expect(later.events.at(-1)).toMatchObject({ data: { n: 30 }, dropped: 10 });
    expect(later.dropped).toBe(1);
    expect(device.unread).toBe(0);
  });

  it("gets no fresh start and no clean record from a reconnect, a sleep or a restart", async () => {
    const { identity, device, token } = await home();
    for (const event of numbered(25)) report(device, event);
    await device.expect("error");
    await heard(device);
    await runInDurableObject(object(identity.id), (instance) => instance.tick(Date.now()));
    await evictDurableObject(object(identity.id));
    const again = await AgentDevice.come(identity);
    for (const event of numbered(5)) report(again, event);
    await heard(again);
    expect(again.unread).toBe(0);
    const { events, dropped } = await read(identity.id, token);
    expect(events).toHaveLength(LIMITS.eventBurst);
    expect(dropped).toBe(10);
  });

  it("can always say that a condition is over", async () => {
    const { identity, device, token } = await home();
    report(device, named(FULL));
    for (const event of numbered(22)) report(device, event);
    await device.expect("error");
    report(device, named(OVER));
    report(device, named(OVER));
    await device.expect("error");
    await heard(device);
    const { events, dropped } = await read(identity.id, token);
    expect(events.filter(({ open }) => open)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ resolved: true, dropped: 3 });
    expect(dropped).toBe(1);
  });

  it("keeps a hundred events, of which the oldest go first, but open conditions last; three rows are written for one at most", async () => {
    const { identity, device, token } = await home();
    await heard(device);
    const rows = await runInDurableObject(object(identity.id), (_, { storage }) => {
      const events = new Events(storage, HEALTHY);
      const count = countRows(storage);
      let now = Date.now() - 111 * TIMES.eventEvery;
      return [FULL, ...numbered(109), FULL].map((event) => {
        now += TIMES.eventEvery;
        const before = count.rows;
        events.keep({ type: "event", ...event }, now);
        return count.rows - before;
      });
    });
    const { events } = await read(identity.id, token);
    expect(events).toHaveLength(LIMITS.eventsKept);
    expect(events[0]).toMatchObject({ data: { n: 10 } });
    expect(events.at(-1)).toMatchObject({ ...FULL, open: true });
    expect(events.filter(({ open }) => open)).toHaveLength(1);
    expect([rows[1], Math.max(...rows.slice(1))]).toEqual([1, 3]);
  });

  it("writes next to nothing while it floods", async () => {
    const { identity, device } = await home();
    const count = await runInDurableObject(object(identity.id), (_, { storage }) => countRows(storage));
    for (const event of numbered(45)) report(device, event);
    await device.expect("error");
    await heard(device);
    await runInDurableObject(object(identity.id), (instance) => instance.tick(Date.now()));
    expect(count.rows).toBeLessThanOrEqual(LIMITS.eventBurst + 3);
    expect(count.rows).toBeGreaterThan(LIMITS.eventBurst);
  });
});

describe("reading events", () => {
  it("goes on after one that the reader has, and begins anew when that is gone", async () => {
    const { identity, device, token } = await home();
    const sent = Array.from({ length: 5 }, (_, n) => named({ event_type: "error_occurred", data: { n } }));
    for (const event of sent) report(device, event);
    await heard(device);
    const ids = sent.map(({ id }) => id);
    const idsOf = async (query: string) => (await read(identity.id, token, query)).events.map(({ id }) => id);
    expect(await idsOf("")).toEqual(ids);
    expect(await idsOf("?limit=2")).toEqual(ids.slice(3));
    expect(await idsOf(`?after=${ids[1]}`)).toEqual(ids.slice(2));
    expect(await idsOf(`?after=${ids[1]}&limit=2`)).toEqual(ids.slice(2, 4));
    expect(await idsOf(`?after=${ids[4]}`)).toEqual([]);
    expect(await idsOf(`?after=${makeEventId()}`)).toEqual(ids);
    for (const query of ["?limit=0", "?limit=101", "?limit=x", "?after=1"]) {
      const response = await ask(`/v1/devices/${identity.id}/events${query}`, { headers: bearer(token) });
      expect(response.status, query).toBe(400);
    }
  });

  it("counts as a message of the grant: it may not be asked for as fast as one likes", async () => {
    const { person, identity, token } = await home();
    await person.setPolicy(identity.id, { rates: { messages_per_second: 1 } });
    const asked = Array.from({ length: 5 }, () =>
      ask(`/v1/devices/${identity.id}/events`, { headers: bearer(token) }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  });

  it("takes a grant that may read and is not limited to folders, of the same account", async () => {
    const { person, identity, device } = await home();
    report(device, { event_type: "new_file_detected", data: { path: "/home/ann/secret.txt" } });
    await heard(device);
    const path = `/v1/devices/${identity.id}/events`;
    const statusOf = async (token: string) => (await ask(path, { headers: bearer(token) })).status;
    const reader = await person.token({ access: "read", devices: [identity.id] });
    expect(await statusOf(reader.token)).toBe(200);
    const limited = await person.token({ access: "full", paths: ["/home/ann"] });
    expect(await statusOf(limited.token)).toBe(403);
    const bare = await person.bareDevice();
    const elsewhere = await person.token({ access: "full", devices: [bare.id] });
    expect(await statusOf(elsewhere.token)).toBe(403);
    expect((await ask(path)).status).toBe(401);
    expect((await (await Person.signIn()).ask(path)).status).toBe(404);

    const caller = await TestCaller.connect(identity.id, limited.token, { protocol: "matrx.v1" });
    await caller.nextJson();
    caller.send({ action: "events" });
    expect(await caller.nextJson()).toMatchObject({ id: null, type: "error", code: "PERMISSION_DENIED" });
    report(device, { event_type: "new_file_detected", data: { path: "/home/ann/other.txt" } });
    await heard(device);
    caller.send({ action: "ping" });
    await pong(caller);
  });
});

describe("live events", () => {
  it("come to who asked, before and after a sleep, and to nobody else", async () => {
    const place = await home();
    const { identity, device, token, caller: plain } = place;
    const opted = await TestCaller.connect(identity.id, token, { protocol: "matrx.v1" });
    await opted.nextJson();
    const live = await watcher(place);
    await pong(live);
    const [first, second] = [named(FULL), named(OVER)];
    report(device, first);
    expect(await live.nextJson()).toMatchObject({
      type: "event",
      device: identity.id,
      event: { id: first.id, open: true, dropped: 0 },
    });
    await evictDurableObject(object(identity.id));
    report(device, first);
    report(device, second);
    expect(await live.nextJson()).toMatchObject({ type: "event", event: { id: second.id, resolved: true } });
    for (const other of [plain, opted]) {
      other.send({ action: "ping" });
      await pong(other);
    }
    plain.send({ action: "events" });
    expect(await plain.nextJson()).toMatchObject({ id: null, code: "INVALID_PARAMETERS" });
    expect(live.unread).toBe(0);
  });

  it("begin after the one that the caller has", async () => {
    const place = await home();
    const sent = Array.from({ length: 3 }, () => named({ event_type: "error_occurred" }));
    for (const event of sent) report(place.device, event);
    await heard(place.device);
    const live = await watcher(place, sent[0]?.id);
    const next = async () => (await live.nextJson<{ event: EventView }>()).event.id;
    expect([await next(), await next()]).toEqual([sent[1]?.id, sent[2]?.id]);
    await pong(live);
  });

  it("end with the grant", async () => {
    const place = await home();
    const { person, identity, device } = place;
    const { token, id } = await person.token({ access: "read" });
    const live = await watcher({ ...place, token });
    await pong(live);
    expect((await person.ask(`/v1/tokens/${id}`, { method: "DELETE" })).status).toBe(204);
    expect((await live.closed).code).toBe(4403);
    await device.expect("session_end");
    report(device, named(FULL));
    await heard(device);
    expect(live.unread).toBe(0);
    expect((await read(identity.id, place.token)).events).toHaveLength(1);
  });

  it("wait for a lease that ran out while the object slept", async () => {
    const place = await home();
    const { identity, device } = place;
    const live = await watcher(place);
    await pong(live);
    await asleep(identity.id, (attachment) => {
      attachment.lease.until = 0;
    });
    const event = named(FULL);
    report(device, event);
    expect(await live.nextJson()).toMatchObject({ event: { id: event.id } });
  });

  it("wait for a new token when the old one is over", async () => {
    const place = await home();
    const { identity, device } = place;
    const live = await watcher(place);
    await pong(live);
    await asleep(identity.id, (attachment) => {
      attachment.expires = Date.now() - 1;
    });
    const event = named(FULL);
    report(device, event);
    await heard(device);
    expect(live.unread).toBe(0);
    live.send({ action: "auth", token: place.token });
    expect(await live.nextJson()).toMatchObject({ type: "authenticated" });
    expect(await live.nextJson()).toMatchObject({ event: { id: event.id } });
  });
});
