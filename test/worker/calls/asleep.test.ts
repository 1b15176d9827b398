/** Calls whose object slept, and what wakes it. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { describe, expect, it } from "vitest";
import { TestCaller } from "../helpers/caller.ts";
import { BareDevice } from "../helpers/device.ts";
import { home, object, sweepAt } from "../helpers/home.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const KEYED = { idempotency_key: "once" };

describe("a call with an idempotency key", () => {
  it("answers each asker under its own id after a sleep, whoever was first and whoever left", async () => {
    const { identity, device, token, caller } = await home();
    const other = await TestCaller.connect(identity.id, token);
    caller.send({ id: "a", tool: "Bash", input: {}, stream: true, ...KEYED });
    const execute = await device.expect("tool_execute");
    other.send({ id: "b", tool: "Bash", input: {}, ...KEYED });
    other.send({ id: "c", tool: "Write", input: {}, idempotency_key: "two" });
    caller.send({ id: "d", tool: "Write", input: {}, idempotency_key: "two" });
    const second = await device.expect("tool_execute");
    await evictDurableObject(object(identity.id));
    device.output(execute, 0, "live");
    expect(await caller.nextJson()).toMatchObject({ id: "a", type: "output" });
    device.answer(execute, "done");
    expect(await caller.nextJson()).toMatchObject({ id: "a", output: "done" });
    expect(await other.nextJson()).toMatchObject({ id: "b", output: "done" });
    const [own, follower] = second.id === "c" ? [other, caller] : [caller, other];
    own.close();
    await own.closed;
    device.answer(second, "written");
    expect(await follower.nextJson()).toMatchObject({ id: second.id === "c" ? "d" : "c", output: "written" });
  });

  it("that runs on, though its caller left and the object slept, answers the one who asks again", async () => {
    const { identity, device, token, caller } = await home();
    caller.send({ id: "before", tool: "Bash", input: { command: "make" }, ...KEYED });
    const execute = await device.expect("tool_execute");
    caller.close();
    await caller.closed;
    await evictDurableObject(object(identity.id));
    const back = await TestCaller.connect(identity.id, token);
    back.send({ id: "after", tool: "Bash", input: { command: "make" }, ...KEYED });
    back.send({ action: "ping" });
    expect(await back.nextJson()).toMatchObject({ type: "pong" });
    device.answer(execute, "made");
    expect(await back.nextJson<Answer>()).toMatchObject({
      id: "after",
      output: "made",
      call: execute.tool_call_id,
    });
    expect(device.unread).toBe(0);
  });
});

it("goes on looking after a long call each minute, though outcomes wait to be pruned", async () => {
  const { identity, device, caller } = await home();
  caller.send({ id: "1", tool: "Bash", input: {} });
  await device.expect("tool_execute");
  const begun = Date.now();
  await evictDurableObject(object(identity.id));
  const alarm = () => runInDurableObject(object(identity.id), (_, state) => state.storage.getAlarm());
  expect(await alarm()).toBeLessThan(begun + 70_000);
  expect(await runDurableObjectAlarm(object(identity.id))).toBe(true);
  await expect.poll(alarm).toBeLessThan(Date.now() + 70_000);
});

it("prunes outcomes also on a device that always has a call under way", async () => {
  const { identity, device, caller } = await home();
  caller.send({ id: "1", tool: "Bash", input: {} });
  await device.expect("tool_execute");
  const begun = Date.now();
  await sweepAt(identity.id, begun);
  const alarms = () =>
    runInDurableObject(object(identity.id), (_, { storage }) =>
      storage.kv.get<Record<string, { due: number }>>("alarms"),
    );
  expect((await alarms())?.prune?.due).toBeLessThanOrEqual(Date.now() + 6 * 60 * 60_000);
});

it("gives a device that drops out while the object sleeps its thirty seconds, and says when it was last seen", async () => {
  const { person, identity, device, caller } = await home();
  await runInDurableObject(object(identity.id), (_, state) =>
    state.storage.kv.put("last_seen", { last_seen: 1000, proof: null }),
  );
  caller.send({ id: "1", tool: "Bash", input: {} });
  await device.expect("tool_execute");
  await evictDurableObject(object(identity.id));
  const begun = Date.now();
  device.close();
  await device.closed;
  await sweepAt(identity.id, Date.now() + 1000);
  expect(caller.unread).toBe(0);
  const view = await (await person.ask(`/v1/devices/${identity.id}`)).json<{ last_seen: string }>();
  expect(Date.parse(view.last_seen)).toBeGreaterThan(begun - 20_000);
  await sweepAt(identity.id, Date.now() + 31_000);
  expect(await caller.nextJson()).toMatchObject({ id: "1", code: "OUTCOME_UNKNOWN" });
});

it("stops what a caller that left while the object slept wanted stopped", async () => {
  const { identity, device, caller } = await home();
  caller.send({ id: "1", tool: "Bash", input: {}, cancel_on_disconnect: true });
  caller.send({ id: "2", tool: "Bash", input: {} });
  const stopped = await device.expect("tool_execute");
  const goesOn = await device.expect("tool_execute");
  await evictDurableObject(object(identity.id));
  caller.close();
  await caller.closed;
  expect(await device.expect("tool_cancel")).toMatchObject({ tool_call_id: stopped.tool_call_id });
  device.answer(goesOn, "done");
  expect(await device.expect("result_ack")).toMatchObject({ tool_call_ids: [goesOn.tool_call_id] });
});

it("sends away who waits over REST for an outcome in the journal, and still looks after other calls", async () => {
  const { identity, device, token, caller } = await home();
  const write = () =>
    ask(`/v1/devices/${identity.id}/tools/Write`, json({}, { ...bearer(token), "Idempotency-Key": "large" }));
  const first = write();
  await device.serve("x".repeat(70_000));
  await first;
  const second = write();
  expect(await device.expect("tool_execute")).toMatchObject({ replay: true });
  caller.send({ id: "other", tool: "Read", input: {}, timeout_ms: 1000 });
  await device.expect("tool_execute");
  await sweepAt(identity.id, Date.now() + 60_500);
  expect((await second).status).toBe(202);
  expect(await caller.nextJson()).toMatchObject({ id: "other", code: "TIMEOUT" });
});

it("says a plausible time for a bare device's answer after a sleep, and has its outcome written at once", async () => {
  const person = await Person.signIn();
  const { id, token } = await person.bareDevice();
  const device = await BareDevice.register(id, token);
  const full = await person.token({ access: "full" });
  const caller = await TestCaller.connect(id, full.token);
  caller.send({ id: "1", tool: "create_directory", input: {} });
  const { tool_call_id } = await device.expect("tool_execute");
  await evictDurableObject(object(id));
  device.send({ type: "tool_result", tool_call_id, success: true, result: { message: "made" } });
  expect(await caller.nextJson()).toMatchObject({ id: "1", output: "made" });
  const row = await runInDurableObject(object(id), (_, { storage: { sql } }) =>
    sql.exec("SELECT state, ms FROM ledger WHERE call = ?", tool_call_id).one(),
  );
  expect(row.state).toBe("finished");
  expect(row.ms).toBeLessThan(60_000);
});
