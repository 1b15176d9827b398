import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { OWNER } from "../core/small-tools.ts";
import { type DeviceSocket, startScriptedRelay } from "./scripted-relay.ts";
import { DEVICE, running, startAgent } from "./start-agent.ts";

async function connected(registered: object = {}) {
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url);
  const socket = await relay.connection();
  await socket.register(registered);
  return { relay, agent, socket };
}

function execute(
  socket: DeviceSocket,
  call: string,
  tool: string,
  parameters: object,
  extra: object = {},
): void {
  const frame = {
    type: "tool_execute",
    tool_call_id: call,
    tool,
    parameters,
    timeout_sec: 5,
    grant: OWNER,
    ...extra,
  };
  socket.socket.send(JSON.stringify(frame));
}

test("a call is answered in a result frame", async () => {
  const { socket } = await connected();
  execute(socket, "c1", "Read", { file_path: "/a" }, { id: "req-1" });
  const { header, answer } = await socket.result();
  expect(header).toMatchObject({ call: "c1", status: "success", ms: expect.any(Number) });
  expect(answer).toMatchObject({
    id: "req-1",
    type: "success",
    output: "read /a",
    call: "c1",
    device: DEVICE,
  });
});

test("a session's state is kept between its calls, a call without one starts afresh", async () => {
  const { socket } = await connected();
  const session = "0123456789abcdef";
  for (const call of ["c1", "c2"]) {
    execute(socket, call, "Read", { file_path: "/a" }, { session });
    expect((await socket.result()).answer.metadata.cwd).toEqual(expect.any(String));
  }
  execute(socket, "c3", "Read", { file_path: "/a" }, { session: "not a session" });
  expect((await socket.result()).answer.code).toBe("INVALID_PARAMETERS");
});

test("a call without a grant is refused", async () => {
  const { socket } = await connected();
  execute(socket, "c1", "Read", { file_path: "/a" }, { grant: undefined });
  expect((await socket.result()).answer.code).toBe("PERMISSION_DENIED");
});

test("live output comes before the result, to calls that asked for it", async () => {
  const { socket } = await connected();
  execute(socket, "c1", "Bash", { command: "say hello" }, { id: "1", stream: true });
  const output = await socket.binary.next();
  expect(output).toMatchObject({ kind: "output", header: { call: "c1" } });
  expect(JSON.parse(Buffer.from(output.body).toString())).toEqual({
    ...{ id: "1", type: "output", channel: "stdout", offset: 0, data: "hello" },
  });
  expect((await socket.result()).header).toMatchObject({ status: "success", exit: 3 });
  execute(socket, "c2", "Bash", { command: "say hello" }, { id: "1" });
  expect((await socket.result()).header.call).toBe("c2");
});

test("how far a call is comes before the result, to calls that asked for it", async () => {
  const { socket } = await connected({ progress_wanted: true });
  execute(socket, "c1", "Bash", { command: "progress" }, { id: "1", stream: true });
  expect(await socket.texts.next()).toEqual({
    ...{ type: "tool_progress", tool_call_id: "c1", progress: 1, total: 2 },
  });
  expect((await socket.result()).answer).toMatchObject({
    content: [{ type: "text", text: "half" }],
    structured: 7,
  });
  execute(socket, "c2", "Bash", { command: "progress" }, { id: "1" });
  await socket.result();
  expect(socket.texts.size).toBe(0);
});

test("a relay that does not know tool_progress is sent none", async () => {
  const { socket } = await connected();
  execute(socket, "c1", "Bash", { command: "progress" }, { id: "1", stream: true });
  await socket.result();
  expect(socket.texts.size).toBe(0);
});

test("tool_cancel stops a call", async () => {
  const { socket } = await connected();
  execute(socket, "c1", "Grep", {});
  socket.send({ type: "tool_cancel", tool_call_id: "c1" });
  expect((await socket.result()).header).toMatchObject({
    call: "c1",
    status: "cancelled",
    code: "CANCELLED",
  });
});

test("the deadline of the frame holds, in milliseconds or seconds", async () => {
  const { socket } = await connected();
  execute(socket, "c1", "Grep", {}, { timeout_ms: 20 });
  expect((await socket.result()).header.code).toBe("TIMEOUT");
  execute(socket, "c2", "Grep", {}, { timeout_sec: 0.02 });
  expect((await socket.result()).header.code).toBe("TIMEOUT");
});

test("the outcome of an effect is sent again until it is acknowledged, and run once", async () => {
  const { relay, agent, socket } = await connected();
  execute(socket, "c1", "Write", { file_path: "/a", content: "x" }, { id: "1" });
  const first = await socket.result();
  socket.socket.terminate();

  const second = await relay.connection();
  await second.register();
  expect(await second.result()).toEqual(first);
  execute(second, "c1", "Write", { file_path: "/a", content: "x" }, { id: "1" });
  expect(await second.result()).toEqual(first);
  second.send({ type: "result_ack", tool_call_ids: ["c1"] });
  second.send({ type: "call_status", tool_call_ids: ["c1", "c2"] });
  expect(await second.texts.next()).toMatchObject({
    calls: [
      { tool_call_id: "c1", state: "finished" },
      { tool_call_id: "c2", state: "never" },
    ],
  });
  second.socket.terminate();

  const third = await relay.connection();
  await third.register();
  execute(third, "c3", "Read", { file_path: "/b" });
  expect((await third.result()).header.call).toBe("c3");
  expect(agent.runs.get("Write")).toBe(1);
});

test("an outcome that the relay had acknowledged, and asks for again, is told as far as it is kept", async () => {
  const { relay, agent, socket } = await connected();
  const answers = [];
  for (const [call, idempotency_key] of [["keyed", "k"], ["small"]] as const) {
    execute(socket, call, "Bash", { command: "say hello" }, { id: call, idempotency_key });
    answers.push(await socket.result());
  }
  const calls = ["keyed", "small"];
  socket.send({ type: "result_ack", tool_call_ids: calls });
  socket.send({ type: "call_status", tool_call_ids: [] });
  await socket.texts.next();
  socket.socket.terminate();
  const next = await relay.connection();
  await next.register();
  next.send({ type: "call_status", tool_call_ids: calls });
  expect(await next.result()).toEqual(answers[0]);
  const { header, answer } = await next.result();
  expect(header).toMatchObject({ call: "small", code: "OUTCOME_UNKNOWN" });
  expect(answer).toMatchObject({
    id: "small",
    metadata: { status: "success", exit_code: 3, preview: "hello" },
  });
  expect(agent.runs.get("Bash")).toBe(2);
});

test("an effect that ends while no link is up is answered on the next one", async () => {
  const { relay, agent, socket } = await connected();
  execute(socket, "c1", "Bash", { command: "sleep", ms: 60 });
  await running(agent, "Bash");
  socket.socket.terminate();
  const next = await relay.connection();
  await next.register();
  next.send({ type: "call_status", tool_call_ids: ["c1"] });
  expect((await next.result()).header).toMatchObject({ call: "c1", status: "success" });
  expect(agent.runs.get("Bash")).toBe(1);
});

test("a read that is given again after a loss is answered once, by the run that is on", async () => {
  const { relay, agent, socket } = await connected();
  execute(socket, "c1", "Grep", {}, { timeout_ms: 500 });
  await running(agent, "Grep");
  socket.socket.terminate();
  const next = await relay.connection();
  await next.register();
  execute(next, "c1", "Grep", {}, { timeout_ms: 5000 });
  expect((await next.result()).header).toMatchObject({ call: "c1", code: "TIMEOUT" });
  expect(agent.runs.get("Grep")).toBe(1);
});

test("what was stopped with its agent is told by the next one, and not run again", async () => {
  const first = await connected();
  execute(first.socket, "c1", "Bash", { command: "deaf", ms: 1200 });
  await running(first.agent, "Bash");
  await first.agent.stop();
  const relay = await startScriptedRelay();
  const again = startAgent(relay.url, { folder: first.agent.home.config });
  const socket = await relay.connection();
  await socket.register();
  const { header } = await socket.result();
  expect(header).toMatchObject({ call: "c1", code: "CANCELLED" });
  expect(again.runs.size).toBe(0);
});

test("replay answers from the journal, and never runs", async () => {
  const { agent, socket } = await connected();
  execute(socket, "c1", "Write", { file_path: "/a", content: "x" }, { id: "1" });
  const first = await socket.result();
  execute(socket, "c1", "Write", {}, { replay: true, grant: undefined });
  expect(await socket.result()).toEqual(first);
  execute(socket, "c2", "Write", {}, { replay: true, grant: undefined });
  expect((await socket.result()).header).toMatchObject({ call: "c2", code: "OUTCOME_UNKNOWN" });
  expect(agent.runs.get("Write")).toBe(1);
});

test("update_permissions reads the policy file again; a damaged one refuses everything", async () => {
  const { agent, socket } = await connected();
  execute(socket, "c1", "Read", { file_path: "/a" });
  expect((await socket.result()).header.status).toBe("success");
  writeFileSync(agent.home.policyFile, '{"allowed_tools":["Write"]}');
  socket.send({ type: "system_command", command: "update_permissions" });
  execute(socket, "c2", "Read", { file_path: "/a" });
  expect((await socket.result()).answer).toMatchObject({ code: "PERMISSION_DENIED", hop: "agent" });
  writeFileSync(agent.home.policyFile, '{"allowed_tool":["Write"]}');
  socket.send({ type: "system_command", command: "update_permissions" });
  execute(socket, "c3", "Write", { file_path: "/a", content: "x" });
  const { answer } = await socket.result();
  expect(answer).toMatchObject({
    code: "PERMISSION_DENIED",
    output: expect.stringContaining("policy.json: allowed_tool"),
  });
});

test("stopping cancels what runs, and its outcome still leaves", async () => {
  const { agent, socket } = await connected();
  execute(socket, "c1", "Bash", { command: "sleep", ms: 4000 });
  await running(agent, "Bash");
  void agent.stop();
  expect((await socket.result()).header).toMatchObject({ call: "c1", status: "cancelled" });
  expect(await agent.end).toBe("stopped");
});
