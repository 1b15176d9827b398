/** Never lost, never twice: sleep, eviction, dropped links and reconnects, with real sockets inside workerd. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { makeCallId } from "@matrx/shared/ids.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { TestCaller } from "../helpers/caller.ts";
import { AgentDevice, TOOLS } from "../helpers/device.ts";
import { type Home, home, object, sweepAt } from "../helpers/home.ts";
import { bearer, json } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";
import { countRows } from "../helpers/written-rows.ts";

async function ledgerRow(id: string, call: string): Promise<Record<string, unknown> | undefined> {
  return runInDurableObject(object(id), (_, state) =>
    state.storage.sql.exec("SELECT * FROM ledger WHERE call = ?", call).toArray().at(0),
  );
}

async function readCall(id: string, token: string, call: string): Promise<Record<string, unknown>> {
  return (await ask(`/v1/devices/${id}/calls/${call}`, { headers: bearer(token) })).json();
}

/** Asks with a read until the object has seen what was sent before: frames of one socket keep their order. */
async function settled(caller: TestCaller, device: AgentDevice): Promise<void> {
  caller.send({ id: "settle", tool: "SystemInfo", input: {} });
  await device.serve("");
  await caller.nextJson();
}

afterEach(() => {
  vi.useRealTimers();
});

describe("sleep", () => {
  it("hibernates with open sockets and relays on from their attachments", async () => {
    const { identity, device, caller } = await home();
    const before = await instance(identity.id);
    await evictDurableObject(object(identity.id));
    const answering = caller.call("SystemInfo");
    const execute = await device.serve("awake");
    expect(execute.session).toBe(caller.session);
    expect((await answering).output).toBe("awake");
    expect(await instance(identity.id)).not.toBe(before);
  });

  it("falls asleep by itself within 13 seconds, and nothing wakes it: not even the agent's pings", async () => {
    const { identity, device, caller } = await home();
    const before = await instance(identity.id);
    const pings = setInterval(() => device.send("ping"), 2_000);
    await new Promise((resolve) => setTimeout(resolve, 13_000));
    clearInterval(pings);
    expect(await device.next()).toBe("pong");
    expect(await instance(identity.id)).not.toBe(before);
    for (let n = device.unread; n > 0; n--) expect(await device.next()).toBe("pong");
    const answering = caller.call("SystemInfo");
    await device.serve("awake");
    expect(await answering).toMatchObject({ output: "awake" });
  }, 20_000);

  it("answers a call that was under way when it fell asleep, once", async () => {
    const { identity, device, caller } = await home();
    caller.send({ id: "slow", tool: "Bash", input: { command: "sleep" } });
    const execute = await device.expect("tool_execute");
    await asleep(identity.id);
    device.answer(execute, "done");
    expect(await caller.nextJson()).toMatchObject({ id: "slow", output: "done" });
    expect(await device.expect("result_ack")).toMatchObject({ tool_call_ids: [execute.tool_call_id] });
    device.answer(execute, "again");
    await device.expect("result_ack");
    await settled(caller, device);
    expect(caller.unread).toBe(0);
  }, 15_000);

  it("refuses an id again after sleep while it is unanswered, and takes it once it was answered", async () => {
    const { identity, device, caller } = await home();
    caller.send({ id: "x", tool: "Bash", input: {} });
    const execute = await device.expect("tool_execute");
    await asleep(identity.id);
    caller.send({ id: "x", tool: "SystemInfo", input: {} });
    expect(await caller.nextJson()).toMatchObject({ id: "x", code: "CONFLICT" });
    device.answer(execute, "first");
    expect(await caller.nextJson()).toMatchObject({ id: "x", output: "first" });
    await device.expect("result_ack");
    caller.send({ id: "x", tool: "SystemInfo", input: {} });
    await device.serve("second");
    expect(await caller.nextJson()).toMatchObject({ id: "x", output: "second" });
  }, 15_000);
});

describe("the ledger", () => {
  it("holds a row before an effect's frame leaves, and its outcome afterwards; a read leaves none", async () => {
    const { identity, device, token, caller } = await home();
    caller.send({ id: "1", tool: "Write", input: { file_path: "/a", content: "x" } });
    const write = await device.expect("tool_execute");
    expect(await ledgerRow(identity.id, write.tool_call_id)).toMatchObject({
      state: "accepted",
      tool: "Write",
    });
    device.answer(write, "written");
    await caller.nextJson();
    await device.expect("result_ack");
    expect(await readCall(identity.id, token, write.tool_call_id)).toMatchObject({
      state: "finished",
      status: "success",
      outcome_in: "here",
      outcome: { output: "written" },
    });
    caller.send({ id: "2", tool: "Read", input: { file_path: "/a" } });
    const read = await device.serve("x");
    await caller.nextJson();
    expect(await ledgerRow(identity.id, read.tool_call_id)).toBeUndefined();
    expect(await readCall(identity.id, token, read.tool_call_id)).toMatchObject({ code: "NOT_FOUND" });
  });

  it("writes at most three rows for an effect call in its whole life, besides the record's mark for many", async () => {
    const { identity, device, caller } = await home();
    const written = await runInDurableObject(object(identity.id), (_, state) => countRows(state.storage));
    caller.send({ id: "1", tool: "Write", input: {} });
    const execute = await device.expect("tool_execute");
    expect(written.rows).toBe(1);
    device.answer(execute, "written");
    await device.expect("result_ack");
    // The third is the alarm's, for all that are pruned with it; the fourth says that the record may not know all.
    expect(written.rows).toBe(4);
    caller.send({ id: "2", tool: "Write", input: {} });
    await device.serve("written");
    await device.expect("result_ack");
    expect(written.rows).toBe(6);
    for (const id of ["3", "4", "5"]) {
      caller.send({ id, tool: "Read", input: {} });
      await device.serve("x");
      // The mark again: there are reads as well.
      expect(written.rows).toBe(7);
    }
  });

  it("keeps an outcome that is larger than 64 KiB in the journal, and fetches it from there", async () => {
    const { identity, device, token } = await home();
    const large = "x".repeat(70_000);
    const path = `/v1/devices/${identity.id}/tools/Bash`;
    const keyed = () =>
      ask(path, json({ command: "make" }, { ...bearer(token), "Idempotency-Key": "build-1" }));
    const first = keyed();
    const execute = await device.serve(large);
    await first;
    await device.expect("result_ack");
    expect(await readCall(identity.id, token, execute.tool_call_id)).toMatchObject({
      state: "finished",
      outcome_in: "journal",
    });
    const second = keyed();
    const replay = await device.expect("tool_execute");
    expect(replay).toMatchObject({ tool_call_id: execute.tool_call_id, replay: true });
    device.answer(replay, large);
    expect(await (await second).json()).toMatchObject({ output: large });
  });

  it("gives one outcome for one idempotency key, to all who ask, and refuses the key for another call", async () => {
    const { identity, device, token, caller } = await home();
    const keyed = { idempotency_key: "once" };
    caller.send({ id: "a", tool: "Write", input: { x: 1, y: 2 }, ...keyed });
    caller.send({ id: "b", tool: "Write", input: { y: 2, x: 1 }, ...keyed });
    const execute = await device.expect("tool_execute");
    device.answer(execute, "written once");
    const answers = [await caller.nextJson<Answer>(), await caller.nextJson<Answer>()];
    expect(answers.map(({ id, output, call }) => [id, output, call])).toEqual([
      ["a", "written once", execute.tool_call_id],
      ["b", "written once", execute.tool_call_id],
    ]);
    await device.expect("result_ack");
    expect(await caller.call("Write", { x: 1, y: 2 }, keyed)).toMatchObject({
      output: "written once",
      call: execute.tool_call_id,
    });
    expect(await caller.call("Write", { x: 1 }, keyed)).toMatchObject({ code: "CONFLICT" });
    const byRest = await ask(
      `/v1/devices/${identity.id}/tools/Write`,
      json({ x: 1, y: 2 }, { ...bearer(token), "Idempotency-Key": "once" }),
    );
    expect(await byRest.json()).toMatchObject({ output: "written once" });
    expect(device.unread).toBe(0);
  });
});

describe("records that the storage lost", () => {
  async function lostSince(place: Home): Promise<unknown> {
    const view = await place.person.ask(`/v1/devices/${place.identity.id}`);
    return (await view.json<{ records_lost: unknown }>()).records_lost;
  }

  async function write({ device, caller }: Home): Promise<string> {
    const answering = caller.call("Write");
    const { tool_call_id } = await device.serve("written");
    await answering;
    return tool_call_id;
  }

  it("are noticed when the device comes back that knows of them, and another ledger begins", async () => {
    const place = await home();
    const { identity, device } = place;
    const { ledger: ledger_id } = device;
    expect(ledger_id).toMatch(/^ledger_/);
    const last_calls = [await write(place), await write(place)];
    const same = await AgentDevice.come(identity, { ledger_id, last_calls });
    expect([same.ledger, await lostSince(place)]).toEqual([ledger_id, null]);

    await runInDurableObject(object(identity.id), (_, { storage }) =>
      storage.sql.exec("DELETE FROM ledger WHERE call = ?", last_calls[1]),
    );
    const back = await AgentDevice.come(identity, { ledger_id, last_calls });
    expect(back.ledger).toMatch(/^ledger_/);
    expect(back.ledger).not.toBe(ledger_id);
    expect(await lostSince(place)).toMatch(/Z$/);
    expect((await AgentDevice.come(identity, { ledger_id: back.ledger, last_calls: [] })).ledger).toBe(
      back.ledger,
    );
  });

  it("are noticed when the ledger itself is an older one", async () => {
    const place = await home();
    const back = await AgentDevice.come(place.identity, { ledger_id: "ledger_of_later", last_calls: [] });
    expect(back.ledger).not.toBe(place.device.ledger);
    expect(await lostSince(place)).toMatch(/Z$/);
  });

  it("are not those that were removed in their time, nor is a device that knows nothing suspicious", async () => {
    const place = await home();
    const { ledger: ledger_id } = place.device;
    const last_calls = [makeCallId(Date.now() - 23.5 * 60 * 60_000), "no call"];
    place.device.close();
    await place.device.closed;
    const rows = await runInDurableObject(object(place.identity.id), (_, { storage }) => countRows(storage));
    const device = await AgentDevice.come(place.identity, { ledger_id, last_calls });
    expect(device.ledger).toBe(ledger_id);
    expect(rows.rows).toBe(0);
    device.close();
    await device.closed;
    rows.rows = 0;
    expect((await AgentDevice.come(place.identity)).ledger).toBe(ledger_id);
    expect(await lostSince(place)).toBeNull();
    expect(rows.rows).toBe(0);
  });
});

describe("a REST call that takes longer than 60 seconds", () => {
  it("is answered with 202 and a URL, where its outcome is found later, also a read's", async () => {
    const { identity, device, token } = await home();
    const asking = ask(`/v1/devices/${identity.id}/tools/Read`, json({}, bearer(token)));
    const execute = await device.expect("tool_execute");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_500 });
    device.send({ type: "device_heartbeat", device_id: identity.id });
    await device.expect("heartbeat_ack");
    await sweepAt(identity.id, Date.now());
    vi.useRealTimers();
    const response = await asking;
    expect(response.status).toBe(202);
    const url = response.headers.get("Location") ?? "";
    expect(await (await ask(url, { headers: bearer(token) })).json()).toMatchObject({
      state: "accepted",
      tool: "Read",
    });
    device.answer(execute, "late, but here");
    await device.expect("result_ack");
    expect(await (await ask(url, { headers: bearer(token) })).json()).toMatchObject({
      outcome: { output: "late, but here" },
    });
  });

  it("can be cancelled by its URL", async () => {
    const { identity, device, token } = await home();
    const asking = ask(`/v1/devices/${identity.id}/tools/Bash`, json({}, bearer(token)));
    const execute = await device.expect("tool_execute");
    const url = `/v1/devices/${identity.id}/calls/${execute.tool_call_id}`;
    expect((await ask(`${url}/cancel`, json({}, bearer(token)))).status).toBe(202);
    expect(await device.expect("tool_cancel")).toMatchObject({ tool_call_id: execute.tool_call_id });
    device.answer(
      execute,
      "Cancelled",
      { status: "cancelled", code: "CANCELLED" },
      { code: "CANCELLED", hop: "tool" },
    );
    expect((await asking).status).toBe(499);
  });
});

describe("a link that drops", () => {
  it("runs reads again when the device is back, and asks what became of effects", async () => {
    const { identity, device, caller } = await home();
    caller.send({ id: "read", tool: "Read", input: {} });
    caller.send({ id: "ran", tool: "Bash", input: { command: "a" } });
    caller.send({ id: "lost", tool: "Bash", input: { command: "b" } });
    await device.expect("tool_execute");
    const ran = await device.expect("tool_execute");
    const lost = await device.expect("tool_execute");
    device.close();
    await device.closed;

    const back = await AgentDevice.come(identity);
    await back.serve("read again");
    const { tool_call_ids } = (await back.expect("call_status")) as unknown as { tool_call_ids: string[] };
    expect(tool_call_ids.sort()).toEqual([ran.tool_call_id, lost.tool_call_id].sort());
    back.send({
      type: "call_status",
      calls: [
        { tool_call_id: ran.tool_call_id, state: "finished" },
        { tool_call_id: lost.tool_call_id, state: "never" },
      ],
    });
    const again = await back.expect("tool_execute");
    expect(again.tool_call_id).toBe(lost.tool_call_id);
    back.answer(again, "ran now");
    back.answer(ran, "ran before");
    const answers = [await caller.nextJson(), await caller.nextJson(), await caller.nextJson()];
    expect(answers.map(({ id, output }) => [id, output])).toEqual([
      ["read", "read again"],
      ["lost", "ran now"],
      ["ran", "ran before"],
    ]);
  });

  it("shows a terminal again to who only watches it: that is a read, whose outcome is never unknown", async () => {
    const { identity, device, caller } = await home();
    const attach = { name: "TerminalAttach", description: "Shows", effect: "execute", input_schema: {} };
    device.send({ type: "manifest", hash: "manifest-2", tools: [...TOOLS, attach] });
    caller.send({ id: "watch", tool: "TerminalAttach", input: { terminal: "term_0123456789" } });
    caller.send({ id: "type", tool: "TerminalAttach", input: { terminal: "term_0123456789", write: true } });
    await device.expect("tool_execute");
    const typing = await device.expect("tool_execute");
    device.close();
    await device.closed;
    const back = await AgentDevice.come(identity, { manifest: "manifest-2" });
    const watching = await back.expect("tool_execute");
    expect(watching.parameters).toEqual({ terminal: "term_0123456789" });
    expect(await back.expect("call_status")).toMatchObject({ tool_call_ids: [typing.tool_call_id] });
    back.answer(watching, "attached again");
    expect(await caller.nextJson()).toMatchObject({ id: "watch", output: "attached again" });
    back.send({ type: "call_status", calls: [{ tool_call_id: typing.tool_call_id, state: "unknown" }] });
    expect(await caller.nextJson()).toMatchObject({ id: "type", code: "OUTCOME_UNKNOWN" });
  });

  it("says that an outcome is unknown when the agent died while the call ran, and never runs it again", async () => {
    const { identity, device, token, caller } = await home();
    caller.send({ id: "1", tool: "Bash", input: {} });
    const execute = await device.expect("tool_execute");
    device.close();
    const back = await AgentDevice.come(identity);
    await back.expect("call_status");
    back.send({ type: "call_status", calls: [{ tool_call_id: execute.tool_call_id, state: "unknown" }] });
    expect(await caller.nextJson()).toMatchObject({ id: "1", code: "OUTCOME_UNKNOWN" });
    expect(await readCall(identity.id, token, execute.tool_call_id)).toMatchObject({ state: "unknown" });
    await settled(caller, back);
    expect(back.unread).toBe(0);
  });

  it("says the same when the agent's journal is a new one", async () => {
    const { identity, device, caller } = await home();
    caller.send({ id: "1", tool: "Bash", input: {} });
    await device.expect("tool_execute");
    device.close();
    const back = await AgentDevice.come(identity, { journal: "journal-2" });
    expect(await caller.nextJson()).toMatchObject({ id: "1", code: "OUTCOME_UNKNOWN" });
    expect(back.unread).toBe(0);
  });

  it("gives the device up after a sleep too, when it dropped out before", async () => {
    const { identity, device, caller } = await home();
    caller.send({ id: "1", tool: "Bash", input: {} });
    await device.expect("tool_execute");
    device.close();
    await device.closed;
    await asleep(identity.id);
    await sweepAt(identity.id, Date.now() + 31_000);
    expect(await caller.nextJson()).toMatchObject({ id: "1", code: "OUTCOME_UNKNOWN" });
  }, 15_000);

  it("keeps an outcome for a caller that went away", async () => {
    const { identity, device, token, caller } = await home();
    caller.send({ id: "1", tool: "Write", input: {} });
    const execute = await device.expect("tool_execute");
    caller.close();
    await caller.closed;
    device.answer(execute, "written all the same");
    await device.expect("result_ack");
    expect(await readCall(identity.id, token, execute.tool_call_id)).toMatchObject({
      outcome: { output: "written all the same" },
    });
  });

  it("stops reads of a caller that went away, and effects only where it asked for that", async () => {
    const { device, caller } = await home();
    caller.send({ id: "1", tool: "Read", input: {} });
    caller.send({ id: "2", tool: "Bash", input: {} });
    caller.send({ id: "3", tool: "Bash", input: {}, cancel_on_disconnect: true });
    const [read, , stops] = [
      await device.expect("tool_execute"),
      await device.expect("tool_execute"),
      await device.expect("tool_execute"),
    ];
    caller.close();
    expect(await device.expect("tool_cancel")).toMatchObject({ tool_call_id: read.tool_call_id });
    expect(await device.expect("tool_cancel")).toMatchObject({ tool_call_id: stops.tool_call_id });
  });

  it("answers for a device that does not come back", async () => {
    const { identity, device, caller } = await home();
    caller.send({ id: "read", tool: "Read", input: {} });
    caller.send({ id: "effect", tool: "Bash", input: {} });
    await device.expect("tool_execute");
    await device.expect("tool_execute");
    device.close();
    await device.closed;
    await sweepAt(identity.id, Date.now() + 31_000);
    expect(await caller.nextJson()).toMatchObject({ id: "read", code: "DEVICE_OFFLINE" });
    expect(await caller.nextJson()).toMatchObject({ id: "effect", code: "OUTCOME_UNKNOWN" });
    expect(await caller.call("SystemInfo")).toMatchObject({ code: "DEVICE_OFFLINE", hop: "relay" });
  });
});

describe("two sockets of one device", () => {
  it("lets the newer one take over; the older one is closed and not heard any more", async () => {
    const { identity, device, caller } = await home();
    caller.send({ id: "1", tool: "SystemInfo", input: {} });
    const execute = await device.expect("tool_execute");
    const newer = await AgentDevice.come(identity);
    expect((await device.closed).code).toBe(4000);
    const again = await newer.expect("tool_execute");
    expect(again.tool_call_id).toBe(execute.tool_call_id);
    newer.answer(again, "from the newer");
    expect(await caller.nextJson()).toMatchObject({ output: "from the newer" });
  });
});

/** A number that each life of the object makes anew. */
function instance(id: string): Promise<object> {
  return runInDurableObject(object(id), (instance) => instance);
}

/** Asleep with a call under way: after five seconds nothing but attachments and an alarm holds it. */
function asleep(id: string): Promise<void> {
  return evictDurableObject(object(id));
}
