/** The same idempotency key gives the same outcome, an error too. */
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { AgentDevice, pairAgent } from "../helpers/device.ts";
import { home, object } from "../helpers/home.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";
import { countRows } from "../helpers/written-rows.ts";

it("answers a kept error as it was the first time: status, code, hint", async () => {
  const person = await Person.signIn();
  const identity = await pairAgent(person);
  const device = await AgentDevice.come(identity);
  const { token } = await person.token({ access: "full" });
  const call = () =>
    ask(
      `/v1/devices/${identity.id}/tools/Write`,
      json({ file_path: "/a" }, { ...bearer(token), "Idempotency-Key": "one" }),
    );

  const asking = call();
  const execute = await device.expect("tool_execute");
  const hint = "Give it more time";
  const why = { code: "TIMEOUT", hint, hop: "agent" } as const;
  device.answer(execute, "Write was stopped", { status: "error", code: "TIMEOUT" }, why);
  const first = await asking;
  const again = await call();

  expect(first.status).toBe(504);
  expect(again.status).toBe(first.status);
  expect(await again.json()).toEqual(await first.json());
  expect(device.unread).toBeLessThanOrEqual(1);
});

describe("a call that did not run", () => {
  it.each([
    ["RATE_LIMITED", 429],
    ["UNAVAILABLE", 503],
    ["PERMISSION_DENIED", 403],
    ["INVALID_PARAMETERS", 400],
    ["CANCELLED", 499],
  ] as const)("frees its key when the agent says so: %s", async (code, status) => {
    const { device, keyed, rows } = await keyedHome();
    const before = rows();
    const refused = keyed({ file_path: "/a" });
    const first = await device.expect("tool_execute");
    const kind = code === "CANCELLED" ? "cancelled" : "error";
    device.answer(first, "No", { status: kind, code, ran: false }, { code, hop: "agent" });
    expect((await refused).status).toBe(status);
    await device.expect("result_ack");
    expect(rows() - before).toBeLessThanOrEqual(3);

    const again = keyed({ file_path: "/b" });
    const second = await device.serve("written");
    expect(second.tool_call_id).not.toBe(first.tool_call_id);
    expect(await (await again).json()).toMatchObject({ output: "written" });
    expect(await (await keyed({ file_path: "/b" })).json()).toMatchObject({ output: "written" });
    expect((await keyed({ file_path: "/a" })).status).toBe(409);
  });

  it("keeps its key when an agent of the release before does not say so", async () => {
    const { device, keyed } = await keyedHome();
    const refused = keyed({ file_path: "/a" });
    const execute = await device.expect("tool_execute");
    device.answer(execute, "No", { status: "error", code: "RATE_LIMITED" }, { code: "RATE_LIMITED" });
    expect((await refused).status).toBe(429);
    expect((await keyed({ file_path: "/a" })).status).toBe(429);
  });
});

it("tells the agent key and input of a call with an effect, and of no other", async () => {
  const { device, keyed, token, identity } = await keyedHome();
  const asking = keyed({ b: 1, a: [2] });
  const execute = await device.serve("");
  expect(execute).toMatchObject({
    idempotency_key: "one",
    input_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  await asking;
  const read = ask(
    `/v1/devices/${identity.id}/tools/Read`,
    json({}, { ...bearer(token), "Idempotency-Key": "two" }),
  );
  expect(await device.serve("")).not.toHaveProperty("idempotency_key");
  await read;
});

it("records an outcome that the agent does not know as unknown, with what the agent says", async () => {
  const { device, keyed, token, identity } = await keyedHome();
  const asking = keyed({ file_path: "/a" });
  const execute = await device.expect("tool_execute");
  const code = "OUTCOME_UNKNOWN";
  device.answer(execute, "The command ended unseen", { status: "error", code }, { code, hop: "agent" });
  expect((await asking).status).toBe(502);
  const record = await ask(`/v1/devices/${identity.id}/calls/${execute.tool_call_id}`, {
    headers: bearer(token),
  });
  expect(await record.json()).toMatchObject({
    state: "unknown",
    code,
    outcome: { output: "The command ended unseen" },
  });
});

async function keyedHome() {
  const { identity, device, token } = await home();
  // The first effect in hours sets the alarm for all that follow.
  const first = ask(`/v1/devices/${identity.id}/tools/Write`, json({}, bearer(token)));
  await device.serve("written");
  await first;
  await device.expect("result_ack");
  const counted = await runInDurableObject(object(identity.id), (_, { storage }) => countRows(storage));
  const headers = { ...bearer(token), "Idempotency-Key": "one" };
  const keyed = (input: object) => ask(`/v1/devices/${identity.id}/tools/Write`, json(input, headers));
  return { identity, device, token, keyed, rows: () => counted.rows };
}
