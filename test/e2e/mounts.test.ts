/** A mounted MCP server, from a real agent through a real relay to every surface. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocket } from "ws";
import { currentPlatform } from "../../agent/platform/current.ts";
import { MATRX_BIN } from "../../scripts/matrx-bin.ts";
import { agentEnvironment } from "../../scripts/start/agent.ts";
import { deviceToolsSchema } from "../../shared/api.ts";
import type { Answer, ToCaller } from "../../shared/caller/to-caller.ts";
import { type Desk, openDesk } from "../agent/cli/desk.ts";
import { runMatrx } from "../agent/cli/matrx.ts";
import { goodServer } from "../agent/mounts/mounted.ts";
import { startAgent } from "./agent.ts";
import { type Rig, startRig } from "./rig.ts";

let rig: Rig;
let desk: Desk;
beforeAll(async () => {
  rig = await startRig();
  desk = openDesk(rig);
  await rig.agent.child.stop(5000);
  const config = join(agentHome(), "config.json");
  const written = JSON.parse(readFileSync(config, "utf8"));
  const mcpServers = { good: tellingItsFolder(goodServer()), off: goodServer({ disabled: true }) };
  writeFileSync(config, JSON.stringify({ ...written, mcpServers }), { mode: 0o600 });
  rig.agent = await startAgent(rig.dataDir);
  await rig.agent.registered();
});
afterAll(async () => {
  desk?.close();
  await rig?.stop();
});

function agentHome(): string {
  return String(agentEnvironment(rig.dataDir).MATRX_HOME);
}

const told = () => join(rig.dataDir, "server-ran-in");

/** The same server, which first writes where it was started. */
function tellingItsFolder({ command, args }: ReturnType<typeof goodServer>) {
  return { command: "/bin/sh", args: ["-c", 'pwd > "$0"; exec "$@"', told(), command, ...args] };
}

async function toolNames(): Promise<string[]> {
  const { relay, token, device } = rig;
  const { tools } = await relay.request({ token }, `GET /v1/devices/${device}/tools`, deviceToolsSchema);
  return tools.map(({ name }) => name);
}

async function call(tool: string, input: object) {
  const response = await fetch(`${rig.base}/tools/${tool}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${rig.token}`, "Content-Type": "application/json" },
    body: JSON.stringify(input),
  });
  return { status: response.status, answer: (await response.json()) as Answer };
}

it("has its tools at the relay soon after the agent is there, which does not wait for it", async () => {
  await expect.poll(toolNames, { timeout: 20_000 }).toContain("good__echo");
});

it("runs in a folder where no caller can have left a program for it", async () => {
  const folder = readFileSync(told(), "utf8").trim();
  expect(folder).toBe(join(agentHome(), "servers"));
  const planted = { file_path: join(folder, "node_modules/.bin/x"), content: "" };
  expect(await call("Write", planted)).toMatchObject({ answer: { code: "PERMISSION_DENIED" } });
});

it("is called over REST, with parts and structured results", async () => {
  expect(await call("good__echo", { text: "hello" })).toMatchObject({
    status: 200,
    answer: { output: "hello" },
  });
  expect((await call("good__parts", {})).answer.content).toHaveLength(4);
  expect((await call("good__data", {})).answer.structured).toEqual({ sum: 3 });
  expect(await call("good__echo", { text: 1 })).toMatchObject({
    status: 400,
    answer: { code: "INVALID_PARAMETERS", metadata: { field: "text" } },
  });
});

it("says on a WebSocket how far it is, to a call that asked", async () => {
  const socket = new WebSocket(`${rig.base.replace("http", "ws")}/ws`, {
    headers: { Authorization: `Bearer ${rig.token}` },
  });
  const frames: ToCaller[] = [];
  const answered = new Promise<void>((resolve) => {
    socket.on("message", (data) => {
      const frame = JSON.parse(data.toString()) as ToCaller;
      frames.push(frame);
      if (frame.type === "success") resolve();
    });
  });
  socket.on("open", () =>
    socket.send(JSON.stringify({ id: "1", tool: "good__steps", input: {}, stream: true })),
  );
  await answered;
  socket.close();
  expect(frames).toContainEqual({ id: "1", type: "progress", progress: 3, total: 3, message: "step 3" });
  expect(frames.at(-1)).toMatchObject({ type: "success", output: "done" });
});

it("is used at the command line, which shows progress and parts", async () => {
  const listed = await runMatrx(["tools", rig.device], desk);
  expect(listed.stdout).toContain("good__echo");
  const steps = await runMatrx(["call", rig.device, "good__steps", "--stream"], desk);
  expect(steps).toMatchObject({ code: 0 });
  expect(steps.stdout).toContain("done");
  expect(steps.stderr).toContain("100% step 3");
  const json = await runMatrx(["call", rig.device, "good__parts", "--json"], desk);
  expect(JSON.parse(json.stdout).content).toHaveLength(4);
});

it("is seen by matrx doctor on its machine", async () => {
  const { stdout } = await runMatrx(["doctor", "--json"], { home: agentHome() });
  expect(JSON.parse(stdout).mounts).toMatchObject([
    { name: "good", state: "ok", fact: "running, 12 tools" },
    { name: "off", state: "untried", fact: "disabled" },
  ]);
});

it("that dies in a call fails that call, and comes back", async () => {
  expect((await call("good__die", {})).answer).toMatchObject({ code: "TOOL_EXECUTION_FAILED", hop: "tool" });
  await expect
    .poll(async () => (await call("good__echo", { text: "back" })).status, { timeout: 20_000 })
    .toBe(200);
});

it("that has a new tool has it closed until its owner allows it at the machine, and the owner is told", async () => {
  await call("good__grow", {});
  await expect.poll(toolNames, { timeout: 20_000 }).toContain("good__extra");
  expect(await call("good__extra", {})).toMatchObject({
    status: 403,
    answer: { code: "PERMISSION_DENIED", hop: "agent", hint: expect.stringContaining("mounts allow good") },
  });
  const events = await runMatrx(["events", rig.device], desk);
  expect(events.stdout).toMatch(/mount_changed.*good/);

  const pins = join(agentHome(), "pins");
  const planted = { file_path: join(pins, readdirSync(pins)[0] ?? ""), content: "{}" };
  expect(await call("Write", planted)).toMatchObject({ answer: { code: "PERMISSION_DENIED" } });
  const allow = `MATRX_HOME=${agentHome()} ${process.execPath} ${MATRX_BIN} mounts allow good --yes`;
  const { answer } = await call("Bash", { command: allow });
  expect(answer.output).toContain("callers cannot allow a server");

  expect(await runMatrx(["mounts", "allow", "good", "--yes"], { home: agentHome() })).toMatchObject({
    code: 0,
  });
  await expect.poll(async () => (await call("good__extra", {})).status, { timeout: 20_000 }).toBe(200);
});

it("ends with its agent", async () => {
  const mark = JSON.parse((await call("good__environment", {})).answer.output).MATRX_JOB as string;
  const left = () => currentPlatform().processes.members({ pid: -1, began: "", mark: `MATRX_JOB=${mark}` });
  expect(await left()).not.toEqual([]);
  await rig.agent.child.stop(10_000);
  expect(await left()).toEqual([]);
});
