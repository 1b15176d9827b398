/** The first call, by WebSocket and by REST, to our agent and to a bare device. */
import { describe, expect, it } from "vitest";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice, BareDevice, pairAgent } from "../helpers/device.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

describe("a call to our agent", () => {
  it("goes from a caller's socket to the device and back", async () => {
    const person = await Person.signIn();
    const identity = await pairAgent(person);
    const device = await AgentDevice.come(identity);
    const { token } = await person.token({ access: "full" });
    const caller = await TestCaller.connect(identity.id, token);

    caller.send({ id: "req-1", tool: "SystemInfo", input: { deep: [1, "ü"] }, timeout_ms: 1500 });
    const execute = await device.expect("tool_execute");
    expect(execute).toMatchObject({
      tool: "SystemInfo",
      parameters: { deep: [1, "ü"] },
      timeout_sec: 2,
      timeout_ms: 1500,
      id: "req-1",
      session: caller.session,
      grant: { owner: true, effects: ["read", "write", "execute"] },
    });
    device.answer(execute, "platform: Linux\n", {}, { metadata: { platform: "Linux" } });
    expect(await caller.nextJson()).toEqual({
      id: "req-1",
      type: "success",
      output: "platform: Linux\n",
      call: execute.tool_call_id,
      device: identity.id,
      metadata: { platform: "Linux" },
    });
  });

  it("comes by REST, with the call's name in a header", async () => {
    const person = await Person.signIn();
    const identity = await pairAgent(person);
    const device = await AgentDevice.come(identity);
    const { token } = await person.token({ access: "full" });

    const answering = ask(
      `/v1/devices/${identity.id}/tools/Read?timeout_ms=9000`,
      json({ file_path: "/a" }, bearer(token)),
    );
    const execute = await device.serve("     1\tx");
    expect(execute).toMatchObject({ tool: "Read", parameters: { file_path: "/a" }, timeout_ms: 9000 });
    expect(execute.id).toBeUndefined();
    expect(execute.session).toBeUndefined();
    const response = await answering;
    expect(response.status).toBe(200);
    expect(response.headers.get("Matrx-Call")).toBe(execute.tool_call_id);
    expect(await response.json()).toMatchObject({ type: "success", output: "     1\tx", image: null });
  });

  it("of a tool that is misspelt is told the near name, whatever the grant may do", async () => {
    const person = await Person.signIn();
    const identity = await pairAgent(person);
    await AgentDevice.come(identity);
    const { token } = await person.token({ access: "read" });
    const response = await ask(`/v1/devices/${identity.id}/tools/Raed`, json({}, bearer(token)));
    expect(await response.json()).toMatchObject({
      status: 404,
      code: "TOOL_NOT_FOUND",
      did_you_mean: "Read",
    });
  });

  it("with a body that is not JSON is told of bodies, not of frames", async () => {
    const person = await Person.signIn();
    const identity = await pairAgent(person);
    const { token } = await person.token({ access: "read" });
    const init = {
      method: "POST",
      body: "{",
      headers: { ...bearer(token), "Content-Type": "application/json" },
    };
    const response = await ask(`/v1/devices/${identity.id}/tools/Read`, init);
    const problem = await response.json<{ code: string; hint: string }>();
    expect(problem).toMatchObject({ status: 400, code: "INVALID_MESSAGE" });
    expect(problem.hint).toContain("as the body");
  });

  it("keeps a session over REST calls that name it", async () => {
    const person = await Person.signIn();
    const identity = await pairAgent(person);
    const device = await AgentDevice.come(identity);
    const { token } = await person.token({ access: "full" });
    const path = `/v1/devices/${identity.id}/tools/Bash`;

    const first = ask(path, json({ command: "cd /" }, { ...bearer(token), "Matrx-Session": "new" }));
    const { session } = await device.serve("");
    expect((await first).headers.get("Matrx-Session")).toBe(session);
    const second = ask(path, json({ command: "pwd" }, { ...bearer(token), "Matrx-Session": session ?? "" }));
    expect((await device.serve("/")).session).toBe(session);
    expect((await second).status).toBe(200);
  });

  it("resumes a socket's session that it names, and refuses a name that is none", async () => {
    const person = await Person.signIn();
    const identity = await pairAgent(person);
    const device = await AgentDevice.come(identity);
    const { token } = await person.token({ access: "full" });
    const first = await TestCaller.connect(identity.id, token);
    first.close();
    const second = await TestCaller.connect(identity.id, token, { query: `?session=${first.session}` });
    const answering = second.call("Bash", { command: "pwd" });
    expect((await device.serve("/")).session).toBe(first.session);
    await answering;
    await expect(TestCaller.connect(identity.id, token, { query: "?session=mine" })).rejects.toThrow("400");
  });

  it("answers many calls at once by their ids, in the order that the device gives", async () => {
    const person = await Person.signIn();
    const identity = await pairAgent(person);
    const device = await AgentDevice.come(identity);
    const { token } = await person.token({ access: "full" });
    const caller = await TestCaller.connect(identity.id, token);

    const ids = ["a", "b", "c"];
    for (const id of ids) caller.send({ id, tool: "SystemInfo", input: {} });
    const executes = [
      await device.expect("tool_execute"),
      await device.expect("tool_execute"),
      await device.expect("tool_execute"),
    ];
    expect(executes.map(({ id }) => id)).toEqual(ids);
    for (const execute of executes.reverse()) device.answer(execute, execute.id ?? "");
    const answers = [await caller.nextJson(), await caller.nextJson(), await caller.nextJson()];
    expect(answers.map(({ id }) => id)).toEqual(["c", "b", "a"]);
  });

  it("passes live output on to callers that asked for it, and a result as binary where that was chosen", async () => {
    const person = await Person.signIn();
    const identity = await pairAgent(person);
    const device = await AgentDevice.come(identity);
    const { token } = await person.token({ access: "full" });
    const caller = await TestCaller.connect(identity.id, token, { protocol: "matrx.v1.bin" });
    expect(await caller.nextJson()).toEqual({
      type: "hello",
      protocol: 1,
      session: caller.session,
      device: identity.id,
    });

    caller.send({ id: "1", tool: "Bash", input: { command: "echo" }, stream: true });
    const execute = await device.expect("tool_execute");
    expect(execute.stream).toBe(true);
    expect(await caller.nextJson()).toMatchObject({ id: "1", type: "accepted" });
    device.output(execute, 0, "hel");
    device.output(execute, 3, "lo");
    device.answer(execute, "hello");
    const [first, second, last] = [await caller.next(), await caller.nextJson(), await caller.nextJson()];
    expect(first).toBeInstanceOf(ArrayBuffer);
    expect(second).toEqual({ id: "1", type: "output", channel: "stdout", offset: 3, data: "lo" });
    expect(last).toMatchObject({ id: "1", output: "hello" });
  });
});

describe("a call to a bare device", () => {
  it("speaks only the device document", async () => {
    const person = await Person.signIn();
    const { id, token } = await person.bareDevice("laptop");
    const device = await BareDevice.register(id, token);
    const caller = await TestCaller.connect(id, (await person.token({ access: "full" })).token);

    caller.send({ id: "1", tool: "create_directory", input: { path: "C:/Test" } });
    const execute = await device.nextJson();
    expect(execute).toEqual({
      type: "tool_execute",
      tool_call_id: expect.any(String),
      tool: "create_directory",
      parameters: { path: "C:/Test" },
      timeout_sec: 60,
    });
    const result = { created_path: "C:/Test", message: "Directory created successfully" };
    device.send({
      type: "tool_result",
      device_id: id,
      tool_call_id: execute.tool_call_id,
      success: true,
      result,
    });
    expect(await caller.nextJson()).toMatchObject({
      id: "1",
      type: "success",
      output: "Directory created successfully",
      metadata: result,
    });
  });

  it("gives its errors their codes", async () => {
    const person = await Person.signIn();
    const { id, token } = await person.bareDevice();
    const device = await BareDevice.register(id, token);
    const api = await person.token({ access: "full" });
    const answering = ask(
      `/v1/devices/${id}/tools/delete_directory`,
      json({ path: "C:/Windows" }, bearer(api.token)),
    );
    const execute = await device.expect("tool_execute");
    device.send({
      type: "tool_result",
      tool_call_id: execute.tool_call_id,
      success: false,
      error: { code: "PERMISSION_DENIED", message: "Access to C:/Windows is not allowed" },
    });
    const response = await answering;
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      code: "PERMISSION_DENIED",
      detail: "Access to C:/Windows is not allowed",
      hop: "device",
    });
  });

  it("gets heartbeats acknowledged, and queries answered", async () => {
    const person = await Person.signIn();
    const { id, token } = await person.bareDevice();
    const device = await BareDevice.register(id, token);
    device.send({ type: "device_heartbeat", device_id: id, timestamp: new Date().toISOString() });
    expect((await device.expect("heartbeat_ack")).timestamp).toMatch(/Z$/);
    device.send({ type: "user_query", device_id: id, query: "Maak een folder Test" });
    await device.expect("assistant_response");
    device.send({
      type: "event",
      device_id: id,
      event_type: "low_disk_space",
      severity: "warning",
      data: { drive: "C:" },
    });
    device.send({ type: "llm_response_chunk", chunk: "", complete: true });
    device.send({ type: "llm_request", prompt: "x" });
    expect(await device.expect("error")).toMatchObject({ error_code: "INVALID_PARAMETERS" });
  });
});
