/** A machine that its user paused, seen from the relay: closed at once, and nothing there opens it. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { agentFolder } from "../../scripts/start/agent.ts";
import { commandedSchema, deviceViewSchema } from "../../shared/api.ts";
import { runMatrx, startMatrx } from "../agent/cli/matrx.ts";
import { startAgent } from "./agent.ts";
import { invoke } from "./caller.ts";
import { fileIn, linesOf, type Rig, startRig } from "./rig.ts";

const CLOSED = {
  ...{ type: "error", code: "PERMISSION_DENIED", hop: "agent" },
  metadata: { reason: "PAUSED" },
};

async function matrx(rig: Rig, ...args: string[]) {
  const ended = await runMatrx([...args, "--json"], { home: agentFolder(rig.dataDir) });
  expect(ended.code).toBe(0);
  return JSON.parse(ended.stdout) as Record<string, unknown>;
}

it("closes at once, stays closed, and opens only at the machine", { timeout: 120_000 }, async () => {
  const rig = await startRig();
  onTestFinished(() => rig.stop());
  const call = (tool: string, input: Record<string, unknown>) => invoke(rig.base, rig.token, { tool, input });
  const ticks = fileIn(rig);
  const loop = `while :; do echo tick >> ${ticks}; sleep 0.05; done`;
  expect(await call("Bash", { command: loop, run_in_background: true })).toMatchObject({ type: "success" });
  const begun = fileIn(rig);
  const running = call("Bash", { command: `touch ${begun}; sleep 300` });
  await expect.poll(() => existsSync(begun) && existsSync(ticks)).toBe(true);

  expect(await matrx(rig, "pause")).toEqual({
    ...{ paused: "everyone", running: true, stopped: { calls: 1, jobs: 1 } },
  });
  expect(await running).toMatchObject({ type: "error", code: "CANCELLED" });
  const ticked = linesOf(ticks).length;
  expect(await call("SystemInfo", {})).toMatchObject(CLOSED);
  const pausedThere = async () =>
    (await rig.relay.request({ token: rig.token }, `GET /v1/devices/${rig.device}`, deviceViewSchema)).paused;
  await expect.poll(pausedThere).toBe("everyone");

  // The owner's whole right at the relay: policy, commands to the agent, every tool.
  const owner = await rig.relay.signIn();
  const policy = await fetch(`${rig.base}/policy`, {
    method: "PUT",
    headers: { Authorization: `Bearer ${owner.token}`, "Content-Type": "application/json" },
    body: "{}",
  });
  expect(policy.status).toBe(200);
  const file = join(agentFolder(rig.dataDir), "pause.json");
  for (const [tool, input] of [
    ["Delete", { path: file }],
    ["Write", { file_path: file, content: "" }],
    ["Bash", { command: `rm ${file}` }],
  ] as const) {
    expect(await call(tool, input), tool).toMatchObject(CLOSED);
  }
  expect(linesOf(ticks)).toHaveLength(ticked);

  const commands = `POST /v1/devices/${rig.device}/commands` as const;
  for (const [times, command] of ["update_permissions", "restart_client"].entries()) {
    await rig.relay.request(owner, commands, commandedSchema, { command });
    if (command === "restart_client") await rig.agent.registered(times);
    expect(await call("SystemInfo", {})).toMatchObject(CLOSED);
  }
  expect(await pausedThere()).toBe("everyone");
  expect(await call("SystemInfo", {})).toMatchObject(CLOSED);
  await rig.agent.child.kill();
  rig.agent = await startAgent(rig.dataDir);
  await rig.agent.registered();
  expect(await call("SystemInfo", {})).toMatchObject(CLOSED);

  expect(await matrx(rig, "resume")).toEqual({ paused: null, running: true });
  expect(await call("SystemInfo", {})).toMatchObject({ type: "success" });
  await expect.poll(pausedThere).toBeNull();
  expect(existsSync(file)).toBe(false);
});

it("shows at the machine what a caller far away does, and the link", { timeout: 60_000 }, async () => {
  const rig = await startRig();
  onTestFinished(() => rig.stop());
  const watching = startMatrx(["activity", "--json"], { home: agentFolder(rig.dataDir) });
  if (!watching.stdout || !watching.stderr) throw new Error("no output");
  await once(watching.stderr, "data");
  const lines = createInterface({ input: watching.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value));
  expect(await next()).toMatchObject({ type: "connected" });
  await invoke(rig.base, rig.token, { tool: "Bash", input: { command: "echo hello" } });
  const call = { surface: "relay", tool: "Bash", grant: { owner: true } };
  expect(await next()).toMatchObject({ ...call, type: "started", input: { command: "echo hello" } });
  expect(await next()).toMatchObject({ ...call, type: "finished", status: "success", preview: "hello\n" });
  await rig.relay.stop();
  expect(await next()).toMatchObject({ type: "disconnected" });
});
