/** Bad input gets code, message, hint and hop; the socket lives, nothing is lost. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { encodeResultFrame } from "@matrx/shared/result-frame.ts";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice, type AgentIdentity, BareDevice, pairAgent } from "../helpers/device.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

/** Rates that these tests, run one after the other in a moment, do not reach. */
const WIDE = { rates: { messages_per_second: 10_000, calls_per_minute: 100_000 } };

let person: Person;
let identity: AgentIdentity;
let token: string;

beforeAll(async () => {
  person = await Person.signIn();
  identity = await pairAgent(person);
  token = (await person.token({ access: "full" })).token;
  await person.setPolicy(identity.id, WIDE);
});

async function linked(): Promise<{ device: AgentDevice; caller: TestCaller }> {
  return { device: await AgentDevice.come(identity), caller: await TestCaller.connect(identity.id, token) };
}

/** The socket still works: a call goes through. */
async function works(caller: TestCaller, device: AgentDevice): Promise<void> {
  const answering = caller.call("SystemInfo");
  await device.serve("fine");
  expect(await answering).toMatchObject({ type: "success", output: "fine" });
}

describe("a caller's frame", () => {
  it.each([
    ["no JSON", "{", "INVALID_MESSAGE", null],
    ["an array", "[1]", "INVALID_MESSAGE", null],
    ["a number", "7", "INVALID_MESSAGE", null],
    ["null", "null", "INVALID_MESSAGE", null],
    [
      "nesting",
      `{"id":"deep","tool":"Read","input":${'{"a":'.repeat(200)}1${"}".repeat(200)}}`,
      "INVALID_MESSAGE",
      null,
    ],
    ["an unknown action", '{"id":"a","action":"dance"}', "INVALID_PARAMETERS", "a"],
    ["no tool", '{"id":"b","input":{}}', "INVALID_PARAMETERS", "b"],
    ["a tool that is a number", '{"id":"c","tool":7}', "INVALID_PARAMETERS", "c"],
    ["input that is text", '{"id":"d","tool":"Read","input":"x"}', "INVALID_PARAMETERS", "d"],
    ["a deadline of zero", '{"id":"e","tool":"Read","timeout_ms":0}', "INVALID_PARAMETERS", "e"],
    ["an id that is a number", '{"id":7,"tool":"Read"}', "INVALID_PARAMETERS", null],
    ["an id of 129 characters", `{"id":"${"x".repeat(129)}","tool":"Read"}`, "INVALID_PARAMETERS", null],
    ["queue_for", '{"id":"f","tool":"Read","queue_for":60}', "INVALID_PARAMETERS", "f"],
  ])("with %s is answered, and the socket lives", async (_, frame, code, id) => {
    const { device, caller } = await linked();
    caller.send(frame);
    expect(await caller.nextJson()).toMatchObject({
      id,
      type: "error",
      code,
      output: expect.any(String),
      hint: expect.any(String),
      hop: "relay",
    });
    await works(caller, device);
  });

  it("names the wrong field", async () => {
    const { caller } = await linked();
    expect(await caller.call("Read", {}, { timeout_ms: "soon" })).toMatchObject({
      metadata: { field: "timeout_ms" },
    });
  });

  it("of more than 4 MiB is refused, and the socket lives", async () => {
    const { device, caller } = await linked();
    caller.send(
      JSON.stringify({ id: "big", tool: "Write", input: { content: "x".repeat(4 * 1024 * 1024) } }),
    );
    expect(await caller.nextJson()).toMatchObject({ id: null, code: "PAYLOAD_TOO_LARGE" });
    await works(caller, device);
  });

  it("that is binary is refused, and the socket lives", async () => {
    const { device, caller } = await linked();
    caller.sendBinary(new Uint8Array([1, 2, 3]));
    expect(await caller.nextJson()).toMatchObject({ id: null, code: "INVALID_MESSAGE" });
    await works(caller, device);
  });

  it("for an unknown tool is told the nearest name", async () => {
    const { caller } = await linked();
    expect(await caller.call("Raed")).toMatchObject({ code: "TOOL_NOT_FOUND", hint: "Did you mean Read?" });
  });

  it("with an alias of an AI tool definition is meant for the tool", async () => {
    const { device, caller } = await linked();
    const answering = caller.call("local_system_info");
    expect((await device.serve("ok")).tool).toBe("SystemInfo");
    await answering;
  });

  it("with an id that is not answered yet gets CONFLICT, and the first one its answer", async () => {
    const { device, caller } = await linked();
    caller.send({ id: "twin", tool: "SystemInfo", input: {} });
    caller.send({ id: "twin", tool: "SystemInfo", input: {} });
    expect(await caller.nextJson()).toMatchObject({ id: "twin", code: "CONFLICT" });
    await device.serve("the first");
    expect(await caller.nextJson()).toMatchObject({ id: "twin", output: "the first" });
  });

  it("without an id is answered under the call's own", async () => {
    const { device, caller } = await linked();
    caller.send({ tool: "SystemInfo" });
    const execute = await device.serve("ok");
    expect(await caller.nextJson()).toMatchObject({ id: execute.id, output: "ok" });
  });

  it("that is the 65th without an answer is refused", async () => {
    const { device, caller } = await linked();
    const other = await TestCaller.connect(identity.id, (await person.token({ access: "full" })).token);
    for (let n = 0; n < 65; n++) caller.send({ id: `n${n}`, tool: "SystemInfo", input: {} });
    expect(await caller.nextJson()).toMatchObject({ id: "n64", code: "RATE_LIMITED" });
    for (let n = 0; n < 64; n++) await device.serve(`${n}`);
    for (let n = 0; n < 64; n++)
      expect(await caller.nextJson()).toMatchObject({ id: `n${n}`, output: `${n}` });
    await works(other, device);
  });

  it("is held to the rates of its grant", async () => {
    const { caller } = await linked();
    await person.setPolicy(identity.id, { rates: { messages_per_second: 2, calls_per_minute: 10_000 } });
    const fresh = await TestCaller.connect(identity.id, (await person.token({ access: "full" })).token);
    // One more is allowed every half second.
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    for (const id of ["1", "2", "3"]) fresh.send({ id, tool: "Nope", input: {} });
    const codes = [await fresh.nextJson(), await fresh.nextJson(), await fresh.nextJson()].map(
      ({ code }) => code,
    );
    expect(codes).toEqual(["TOOL_NOT_FOUND", "TOOL_NOT_FOUND", "RATE_LIMITED"]);
    await person.setPolicy(identity.id, WIDE);
    caller.close();
  });
});

describe("a device's frame", () => {
  it.each([
    ["no JSON", "{", "INVALID_MESSAGE"],
    ["an unknown type", '{"type":"dance"}', "INVALID_MESSAGE"],
    ["no type", "{}", "INVALID_MESSAGE"],
    ["a type that only the relay sends", '{"type":"llm_request","prompt":"x"}', "INVALID_PARAMETERS"],
    ["a wrong field", '{"type":"event"}', "INVALID_PARAMETERS"],
    ["a second registration", '{"type":"device_register","device_id":"x"}', "CONFLICT"],
  ])("with %s gets an error of the document, and the socket lives", async (_, frame, code) => {
    const { device, caller } = await linked();
    device.send(frame);
    expect(await device.expect("error")).toMatchObject({
      error_code: code,
      message: expect.any(String),
      timestamp: expect.any(String),
    });
    await works(caller, device);
  });

  it.each([
    ["empty", new Uint8Array()],
    ["cut short", new Uint8Array([1, 255, 255, 0])],
    ["of an unknown kind", new Uint8Array([9, 0, 2, 123, 125])],
    ["with a header that is not JSON", new Uint8Array([1, 0, 2, 0xff, 0xfe])],
    ["with an empty header", new Uint8Array([1, 0, 2, 123, 125])],
  ])("that is binary and %s gets INVALID_MESSAGE, and the socket lives", async (_, bytes) => {
    const { device, caller } = await linked();
    device.sendBinary(bytes);
    expect(await device.expect("error")).toMatchObject({ error_code: "INVALID_MESSAGE" });
    await works(caller, device);
  });

  it("of more than 16 MiB is refused, and the socket lives", async () => {
    const { device, caller } = await linked();
    device.sendBinary(
      encodeResultFrame({ call: "x", status: "success", ms: 1 }, new Uint8Array(16 * 1024 * 1024)),
    );
    expect(await device.expect("error")).toMatchObject({ error_code: "PAYLOAD_TOO_LARGE" });
    await works(caller, device);
  });

  it("that answers a call it was not given is dropped, and counted", async () => {
    const { device, caller } = await linked();
    const strays = await straysOf(identity.id);
    const call = "01939b3e-0000-7000-8000-000000000000";
    device.sendBinary(
      encodeResultFrame({ call, status: "success", ms: 1 }, new TextEncoder().encode('{"id":"1"}')),
    );
    await device.expect("result_ack");
    await works(caller, device);
    expect(await straysOf(identity.id)).toBe(strays + 1);
    expect(caller.unread).toBe(0);
  });

  it("cannot answer another device's call", async () => {
    const other = await pairAgent(person, "other");
    const stranger = await AgentDevice.come(other);
    const { device, caller } = await linked();
    caller.send({ id: "mine", tool: "SystemInfo", input: {} });
    const execute = await device.expect("tool_execute");
    stranger.answer(execute, "forged");
    await stranger.expect("result_ack");
    device.answer(execute, "genuine");
    expect(await caller.nextJson()).toMatchObject({ output: "genuine" });
  });

  it("comes too often from a bare device", async () => {
    const { id, token: deviceToken } = await person.bareDevice();
    const device = await BareDevice.register(id, deviceToken);
    for (let n = 0; n < 2; n++) device.send({ type: "device_heartbeat", device_id: id });
    await device.expect("heartbeat_ack");
    expect(await device.expect("error")).toMatchObject({ error_code: "RATE_LIMITED" });
    // More than a busy machine lets in as they come.
    for (let n = 0; n < 100; n++) device.send({ type: "event", event_type: "error_occurred" });
    expect(await device.expect("error")).toMatchObject({ error_code: "RATE_LIMITED" });
  });
});

describe("a REST request", () => {
  const path = (tool: string) => `/v1/devices/${identity.id}/tools/${tool}`;

  it.each([
    ["no JSON", { body: "{" }, 400, "INVALID_MESSAGE"],
    [
      "a body of more than 4 MiB",
      { body: `{"a":"${"x".repeat(4 * 1024 * 1024)}"}` },
      413,
      "PAYLOAD_TOO_LARGE",
    ],
    ["an unknown session", { body: "{}", headers: { "Matrx-Session": "mine" } }, 400, "INVALID_PARAMETERS"],
    [
      "an endless idempotency key",
      { body: "{}", headers: { "Idempotency-Key": "k".repeat(200) } },
      400,
      "INVALID_PARAMETERS",
    ],
  ])("with %s is refused in problem+json", async (_, init, status, code) => {
    const headers = {
      ...bearer(token),
      "Content-Type": "application/json",
      ...("headers" in init ? init.headers : {}),
    };
    const response = await ask(path("Read"), {
      method: "POST",
      body: init.body,
      headers: headers as Record<string, string>,
    });
    expect(response.status).toBe(status);
    expect(response.headers.get("Content-Type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({ code, hop: "relay", status });
  });

  it.each([
    ["no JSON", "{", "INVALID_MESSAGE"],
    ["no tool", "{}", "INVALID_PARAMETERS"],
    ["a text as input", '{"tool":"Read","input":"{}"}', "INVALID_PARAMETERS"],
    ["a wrong deadline", '{"tool":"Read","timeout_ms":0}', "INVALID_PARAMETERS"],
  ])(
    "on the guide's routes with %s is an error in the guide's shape; with events, a problem",
    async (_, body, code) => {
      const headers = {
        ...bearer(token),
        ...{ "Content-Type": "application/json", "X-Matrx-Device": identity.id },
      };
      for (const route of [path("invoke"), "/tools/invoke"]) {
        const response = await ask(route, { method: "POST", body, headers });
        expect(response.status).toBe(400);
        expect(response.headers.get("Content-Type")).toBe("application/json");
        expect(await response.json()).toMatchObject({
          ...{ type: "error", output: expect.any(String), image: null },
          ...{ code, hint: expect.any(String), hop: "relay", device: identity.id },
        });
      }
      const events = { ...headers, Accept: "text/event-stream" };
      const response = await ask(path("invoke"), { method: "POST", body, headers: events });
      expect(response.headers.get("Content-Type")).toBe("application/problem+json");
      expect(await response.json()).toMatchObject({ code, status: 400 });
    },
  );

  it("for a tool that is not there says so with 404", async () => {
    await linked();
    const response = await ask(path("Raed"), json({}, bearer(token)));
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "TOOL_NOT_FOUND", did_you_mean: "Read" });
  });

  it("at the guide's root lists the choices when the device is not named", async () => {
    const response = await ask("/tools/invoke", json({ tool: "SystemInfo", input: {} }, bearer(token)));
    expect(response.status).toBe(400);
    const problem = await response.json<{ choices: { id: string }[] }>();
    expect(problem.choices.map(({ id }) => id)).toContain(identity.id);
  });

  it("at a path that is not there gets a problem too", async () => {
    const response = await ask("/v1/nothing", { method: "POST" });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "NOT_FOUND", hint: expect.any(String) });
  });
});

function straysOf(id: string): Promise<number> {
  return runInDurableObject(env.DEVICE.getByName(id), (instance) => instance.diagnostics().strays);
}
