/** The relay has calls prepared, learns what the device itself asks about, and what was decided there. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FromDevice } from "@matrx/shared/device-frames.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { expect, test } from "vitest";
import { approvalsHere } from "../../../agent/cli/client/approvals.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { OWNER } from "../core/small-tools.ts";
import { type DeviceSocket, startScriptedRelay } from "./scripted-relay.ts";
import { startAgent } from "./start-agent.ts";

async function connected(policy: Policy = {}) {
  const relay = await startScriptedRelay();
  const folder = temporaryFolder();
  const file = join(folder, "policy.json");
  writeFileSync(file, JSON.stringify(policy), { mode: 0o600 });
  const agent = startAgent(relay.url, { folder, times: { toolsLookMs: 60_000 } });
  const socket = await relay.connection();
  await socket.register({ manifest_wanted: true });
  return { relay, agent, socket, file };
}

/** The next frame of this type. */
async function next<Type extends FromDevice["type"]>(socket: DeviceSocket, type: Type) {
  for (;;) {
    const frame = await socket.texts.next();
    if (frame.type === type) return frame as Extract<FromDevice, { type: Type }>;
  }
}

const WRITE = { tool: "Write", parameters: { file_path: "/x", content: "y" }, grant: OWNER };

function prepare(socket: DeviceSocket, call: string, extra: object = {}): void {
  socket.socket.send(JSON.stringify({ type: "tool_prepare", tool_call_id: call, ...WRITE, ...extra }));
}

function execute(socket: DeviceSocket, call: string, extra: object = {}): void {
  const frame = { type: "tool_execute", tool_call_id: call, ...WRITE, timeout_sec: 5, ...extra };
  socket.socket.send(JSON.stringify(frame));
}

const ASK_WRITES: Policy = { ask: [{ tools: ["Write"] }] };
const AT_MACHINE: Policy = { ask: [{ tools: ["Write"], at: "machine" }] };

test("a call is prepared, and runs with the binding of its question only", async () => {
  const { socket, agent } = await connected(ASK_WRITES);
  prepare(socket, "c1");
  const prepared = await next(socket, "tool_prepared");
  expect(prepared).toMatchObject({
    ...{ tool_call_id: "c1", ask: true, binding: expect.stringMatching(/^[0-9a-f]{64}$/) },
    question: { tool: "Write", effect: "write", input: '{"content":"y","file_path":"/x"}' },
  });
  execute(socket, "c1");
  expect((await socket.result()).answer).toMatchObject({ code: "UNAVAILABLE" });
  execute(socket, "c1", { approval: { id: "approval_1", binding: "0".repeat(64) } });
  expect((await socket.result()).answer).toMatchObject({ code: "CONFLICT" });
  expect(agent.runs.get("Write")).toBeUndefined();
  execute(socket, "c1", { approval: { id: "approval_1", binding: prepared.binding } });
  expect((await socket.result()).answer).toMatchObject({ output: "wrote y" });
  expect(agent.runs.get("Write")).toBe(1);
});

test("a call that is to be prepared again while it is prepared is answered once", async () => {
  const { socket } = await connected(ASK_WRITES);
  prepare(socket, "c1");
  prepare(socket, "c1");
  expect(await next(socket, "tool_prepared")).toMatchObject({ tool_call_id: "c1", ask: true });
  prepare(socket, "c2");
  expect(await next(socket, "tool_prepared")).toMatchObject({ tool_call_id: "c2", ask: true });
});

test("the relay's policy and the grant ask too, and a call that cannot run is refused at once", async () => {
  const { socket } = await connected();
  prepare(socket, "c1");
  expect(await next(socket, "tool_prepared")).toEqual({
    type: "tool_prepared",
    tool_call_id: "c1",
    ask: false,
  });
  prepare(socket, "c2", { policy: ASK_WRITES });
  expect(await next(socket, "tool_prepared")).toMatchObject({ tool_call_id: "c2", ask: true });
  prepare(socket, "c3", { grant: { ...OWNER, owner: false, ask: [{ effects: ["write"] }] } });
  expect(await next(socket, "tool_prepared")).toMatchObject({ tool_call_id: "c3", ask: true });
  prepare(socket, "c4", { parameters: { path: "/x" } });
  expect(await next(socket, "tool_prepared")).toMatchObject({
    ...{ tool_call_id: "c4", ask: false, error: { code: "INVALID_PARAMETERS", hint: expect.any(String) } },
  });
});

test("what the device asks about is announced, and anew when its policy file changes", async () => {
  const { socket, file } = await connected(ASK_WRITES);
  const first = await next(socket, "manifest");
  expect(first.ask).toEqual(ASK_WRITES.ask);
  writeFileSync(file, JSON.stringify(AT_MACHINE));
  const second = await next(socket, "manifest");
  expect(second.ask).toEqual(AT_MACHINE.ask);
  expect(second.hash).not.toBe(first.hash);
  rmSync(file);
  const third = await next(socket, "manifest");
  expect([third.ask, third.tools]).toEqual([undefined, first.tools]);
});

test("a decision at the machine is told, also to a relay that was away meanwhile, and no other counts", async () => {
  const { relay, socket, agent } = await connected(AT_MACHINE);
  prepare(socket, "c1");
  const { binding, at } = await next(socket, "tool_prepared");
  expect(at).toBe("machine");
  const approval = { id: "approval_1", binding };
  execute(socket, "c1", { approval });
  expect((await socket.result()).answer).toMatchObject({ code: "APPROVAL_DENIED" });

  const desk = approvalsHere(agent.home);
  const [waiting] = await desk.list();
  if (!waiting) throw new Error("nothing waits");
  await desk.decide(waiting, { decision: "allow" });
  const decided = { type: "approval_decided", tool_call_id: "c1", binding, allow: true };
  expect(await next(socket, "approval_decided")).toEqual(decided);

  socket.socket.terminate();
  const again = await relay.connection();
  await again.register();
  expect(await next(again, "approval_decided")).toEqual(decided);
  execute(again, "c1", { approval });
  expect((await again.result()).answer).toMatchObject({ output: "wrote y" });
});

test("a question at the machine goes when its call is cancelled", async () => {
  const { socket, agent } = await connected(AT_MACHINE);
  prepare(socket, "c1");
  await next(socket, "tool_prepared");
  const desk = approvalsHere(agent.home);
  expect(await desk.list()).toHaveLength(1);
  socket.send({ type: "tool_cancel", tool_call_id: "c1" });
  await expect.poll(() => desk.list()).toEqual([]);
});
