/** Attacks on events, event streams, commands and policy: by a device, by a reader, and by bad luck. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import type { DeviceEvent } from "@matrx/shared/events.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { describe, expect, it } from "vitest";
import { Events } from "../../../worker/device/event-log.ts";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice, type BareDevice } from "../helpers/device.ts";
import { EventReader } from "../helpers/events.ts";
import { HEALTHY, type Home, home, object, sweepAt } from "../helpers/home.ts";
import { bearer, json } from "../helpers/relay.ts";
import { ask, ORIGIN } from "../helpers/request.ts";

const ACCEPT = { Accept: "text/event-stream" };

/** The relay has read what the device sent before. */
async function heard(device: BareDevice): Promise<void> {
  device.send({ type: "user_query", query: "?" });
  await device.expect("assistant_response");
}

async function attach({ identity, token }: Home, call: string): Promise<EventReader> {
  const headers = { ...bearer(token), ...ACCEPT };
  return new EventReader(await ask(`/v1/devices/${identity.id}/calls/${call}`, { headers }));
}

describe("a device of which all but one kept events are open conditions", () => {
  /** Fills its rows over the last hours, one event at a time. */
  async function crowded(): Promise<Home> {
    const place = await home();
    const { identity } = place;
    await runInDurableObject(object(identity.id), (_, { storage }) => {
      const events = new Events(storage, HEALTHY);
      const from = Date.now() - 2 * LIMITS.eventsKept * TIMES.eventEvery;
      for (let n = 0; n < LIMITS.eventsKept; n++) {
        const condition: DeviceEvent = { type: "event", event_type: "service_down", key: `service ${n}` };
        const last: DeviceEvent = { type: "event", event_type: "error_occurred" };
        events.keep(n < LIMITS.eventsKept - 1 ? condition : last, from + n * TIMES.eventEvery);
      }
    });
    await evictDurableObject(object(identity.id));
    return place;
  }

  it("loses no event of those who listen", async () => {
    const { identity, token, device } = await crowded();
    const live = await TestCaller.connect(identity.id, token, { protocol: "matrx.v1" });
    await live.nextJson();
    live.send({ action: "events" });
    for (let n = 0; n < 3; n++) device.send({ type: "event", event_type: "error_occurred", data: { n } });
    await heard(device);
    live.send({ action: "ping" });
    for (let n = 0; n < 3; n++)
      expect(await live.nextJson()).toMatchObject({ type: "event", event: { data: { n } } });
    expect(await live.nextJson()).toEqual({ type: "pong" });
  });

  it("is held to the same rate as any other", async () => {
    const { identity, token, device } = await crowded();
    for (let n = 0; n < 40; n++) device.send({ type: "event", event_type: "error_occurred", data: { n } });
    expect(await device.expect("error")).toMatchObject({ error_code: "RATE_LIMITED" });
    await heard(device);
    const response = await ask(`/v1/devices/${identity.id}/events`, { headers: bearer(token) });
    const { dropped } = await response.json<{ dropped: number }>();
    expect(dropped).toBe(40 - LIMITS.eventBurst);
  });
});

describe("a reader who attached to a call", () => {
  it("and leaves after the call's own caller was sent away stops nothing", async () => {
    const at = await home();
    const path = `/v1/devices/${at.identity.id}/tools/Read?timeout_ms=300000`;
    const asking = ask(path, json({}, bearer(at.token)));
    const execute = await at.device.expect("tool_execute");
    const reader = await attach(at, execute.tool_call_id);
    await reader.expect("call");
    await sweepAt(at.identity.id, Date.now() + 61_000);
    expect((await asking).status).toBe(202);
    const back = await AgentDevice.come(at.identity);
    expect(await back.nextJson()).toMatchObject({ type: "call_status" });
    await reader.leave();
    await expect
      .poll(() =>
        runInDurableObject(object(at.identity.id), (instance) => instance.diagnostics().openStreams),
      )
      .toBe(0);
    back.answer(execute, "read");
    expect(await back.nextJson()).toMatchObject({ type: "result_ack" });
  });

  it("whose outcome is fetched for another reader gets it under no id", async () => {
    const at = await home();
    at.caller.send({ id: "mine", tool: "Write", input: {} });
    const execute = await at.device.expect("tool_execute");
    at.device.answer(execute, "x".repeat(LIMITS.ledgerOutcomeBytes + 1));
    await at.caller.nextJson();
    const readers = [await attach(at, execute.tool_call_id), await attach(at, execute.tool_call_id)];
    const replay = await at.device.expect("tool_execute");
    at.device.answer({ ...replay, id: "mine" }, "from the journal");
    for (const reader of readers) {
      const result = (await reader.rest()).at(-1);
      expect(result).toMatchObject({ event: "result", data: { output: "from the journal", image: null } });
      expect(result?.data).not.toHaveProperty("id");
    }
  });
});

it("many readers who wait for one large result cost no more memory than those who read slowly", async () => {
  const at = await home();
  at.caller.send({ id: "mine", tool: "Write", input: {} });
  const execute = await at.device.expect("tool_execute");
  const readers = await Promise.all([1, 2, 3, 4, 5].map(() => attach(at, execute.tool_call_id)));
  for (const reader of readers) await reader.expect("call");
  at.device.answer(execute, "x".repeat(10 * 1024 * 1024));
  const ends = await Promise.all(readers.map(async (reader) => (await reader.rest()).at(-1)));
  const codes = ends.map((end) => end?.data.code ?? end?.event);
  expect(codes.toSorted()).toEqual([
    "OUTCOME_UNKNOWN",
    "OUTCOME_UNKNOWN",
    ...Array.from({ length: 3 }, () => "result"),
  ]);
  await expect
    .poll(() => runInDurableObject(object(at.identity.id), (instance) => instance.diagnostics().openStreams))
    .toBe(0);
});

it("what a removed device said before it heard of it leaves nothing behind", async () => {
  const { identity, device } = await home();
  await heard(device);
  const left = await runInDurableObject(object(identity.id), async (instance, state) => {
    const { storage } = state;
    const sockets = state.getWebSockets("device");
    await instance.destroy();
    for (const ws of sockets) {
      instance.webSocketMessage(ws, '{"type":"event","event_type":"error_occurred"}');
      instance.webSocketMessage(ws, '{"type":"manifest","hash":"another","tools":[]}');
      instance.webSocketClose(ws, 1000, "");
    }
    instance.tick(Date.now());
    const tables = storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'events'").toArray();
    return [sockets.length, ...tables, ...storage.kv.list()];
  });
  expect(left).toEqual([1]);
});

describe("a policy or a command", () => {
  it("that is too large to go with each call is refused, and the old one holds", async () => {
    const { person, identity } = await home();
    for (const policy of [
      { allowed_tools: Array.from({ length: 300_000 }, (_, n) => `tool ${n}`) },
      { allowed_paths: [`/${"x".repeat(LIMITS.policyBytes)}`] },
    ]) {
      const response = await person.setPolicy(identity.id, policy);
      expect(await response.json()).toMatchObject({
        ...{ status: 413, code: "PAYLOAD_TOO_LARGE", limit_bytes: LIMITS.policyBytes },
      });
    }
    expect(await (await person.ask(`/v1/devices/${identity.id}/policy`)).json()).toEqual({});
  });

  it("that a page of another origin sends with the person's cookie changes nothing", async () => {
    const { person, identity, device } = await home();
    const at = `/v1/devices/${identity.id}`;
    const form = {
      method: "POST",
      body: '{"command":"shutdown"}',
      headers: { "Content-Type": "text/plain" },
    };
    const cookie = { Cookie: person.cookie };
    const foreign = [
      ask(`${at}/commands`, { ...form, headers: { ...form.headers, ...cookie } }),
      ask(`${at}/commands`, json({ command: "shutdown" }, { Origin: "https://evil.example", ...cookie })),
      ask(`${at}/commands`, json({ command: "shutdown" }, { Origin: "null", ...cookie })),
      ask(`${at}/commands`, json({ command: "shutdown" }, { Origin: ORIGIN, ...cookie })),
      ask(`${at}/policy`, { ...json({}, { Origin: "https://evil.example", ...cookie }), method: "PUT" }),
    ];
    for (const asked of foreign) {
      const response = await asked;
      expect(response.status).toBe(401);
      expect(response.headers.get("Content-Type")).toBe("application/problem+json");
    }
    await heard(device);
    expect(device.unread).toBe(0);
  });

  it.each(["Write", "Read"])("that forbids %s holds for a call that the device never got", async (tool) => {
    const { person, identity, device, caller } = await home();
    caller.send({ id: "1", tool, input: {} });
    const { tool_call_id } = await device.expect("tool_execute");
    device.close();
    await device.closed;
    await person.setPolicy(identity.id, { allowed_tools: ["SystemInfo"] });
    expect(await caller.nextJson()).toMatchObject({ id: "1", type: "error", code: "PERMISSION_DENIED" });
    const back = await AgentDevice.come(identity);
    back.send({ type: "call_status", calls: [{ tool_call_id, state: "never" }] });
    await heard(back);
    expect(back.unread).toBe(0);
  });
});
