/** Whatever dies in between, an effect happens at most once and its outcome is told. */
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isAlive } from "../../scripts/start/process.ts";
import { startAgent } from "./agent.ts";
import { Caller, type Frame, invoke } from "./caller.ts";
import { fileIn, linesOf, type Rig, recordOf, startRig } from "./rig.ts";

/** As in agent/jobs/job.ts, in milliseconds. */
const FILE_CLOCK = 20;

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

const open = () => Caller.open(rig.relay.url, rig.device, rig.token);
const registrations = () => rig.agent.states.filter((state) => state === "REGISTERED").length;

/** A command that appends a line, but not before its gate is there. */
function gated() {
  const [file, gate] = [fileIn(rig), fileIn(rig)];
  const command = `cd '${rig.folder}'; echo $$; until [ -e '${gate}' ]; do sleep 0.02; done; echo line >> '${file}'`;
  return { file, command, release: () => writeFileSync(gate, "") };
}

/** Calls with live output; resolves when the command runs, with its process id. */
async function begin(caller: Caller, body: Record<string, unknown>): Promise<number> {
  caller.send({ id: "1", tool: "Bash", stream: true, ...body });
  const { data } = await caller.frame("live output", ({ type }) => type === "output");
  return Number(data?.split("\n")[0]);
}

async function onlyAnswer(caller: Caller): Promise<Frame> {
  await caller.answer("1");
  const [answer, ...more] = (await caller.framesOf("1")).filter(({ type }) => type !== "output");
  expect(more).toEqual([]);
  if (!answer) throw new Error("no answer");
  return answer;
}

async function killAgent(): Promise<void> {
  await rig.agent.child.kill();
}

async function startAnother(): Promise<void> {
  rig.agent = await startAgent(rig.dataDir);
  await rig.agent.registered();
}

/** The device's connection breaks while a call that the relay has sent is held up in one direction. */
async function cutWhileHeld(
  direction: "up" | "down",
  call: (caller: Caller) => Promise<void>,
): Promise<Frame> {
  using caller = await open();
  const times = registrations();
  rig.line.hold(direction);
  await call(caller);
  await caller.framesOf("1");
  rig.line.cut();
  await rig.agent.registered(times);
  return await onlyAnswer(caller);
}

it("answers a call that ran while the line was cut; the agent is back by itself", async () => {
  using caller = await open();
  const { file, command, release } = gated();
  await begin(caller, { input: { command } });
  const times = registrations();
  rig.line.cut();
  await rig.agent.registered(times);
  expect(await rig.isOnline()).toBe(true);
  release();
  expect(await onlyAnswer(caller)).toMatchObject({ type: "success", metadata: { exit_code: 0 } });
  expect(linesOf(file)).toEqual(["line"]);
});

it("reads again what was lost on the way to the device", async () => {
  const answer = await cutWhileHeld("down", async (caller) => {
    caller.send({ id: "1", tool: "ListDirectory", input: { path: rig.folder } });
  });
  expect(answer).toMatchObject({ type: "success" });
});

it("runs an effect once that was lost on the way to the device", async () => {
  const file = fileIn(rig);
  const answer = await cutWhileHeld("down", async (caller) => {
    caller.send({ id: "1", tool: "Bash", input: { command: `echo line >> '${file}'` } });
  });
  expect(answer).toMatchObject({ type: "success" });
  expect(linesOf(file)).toEqual(["line"]);
});

it("runs an effect once whose answer was lost on the way back", async () => {
  const file = fileIn(rig);
  const answer = await cutWhileHeld("up", async (caller) => {
    caller.send({ id: "1", tool: "Bash", input: { command: `echo line >> '${file}'; echo said` } });
    await expect.poll(() => existsSync(file) && rig.line.held("up"), { interval: 10 }).toBeGreaterThan(0);
  });
  expect(answer).toMatchObject({ type: "success", output: "said\n" });
  expect(linesOf(file)).toEqual(["line"]);
});

it("keeps the outcome of an effect that ends while the relay is dead; both are back by themselves", async () => {
  const caller = await open();
  const { file, command, release } = gated();
  const body = { tool: "Bash", input: { command }, idempotency_key: crypto.randomUUID() };
  await begin(caller, body);
  const times = registrations();
  await rig.relay.kill();
  release();
  await caller.closed;
  await rig.agent.registered(times);
  expect(await rig.isOnline()).toBe(true);
  const answer = await invoke(rig.base, rig.token, body);
  expect(answer).toMatchObject({ status: 200, type: "success", metadata: { exit_code: 0 } });
  expect(linesOf(file)).toEqual(["line"]);
  expect(await recordOf(rig, answer.call)).toMatchObject({
    ...{ state: "finished", status: "success", outcome_in: "here", outcome: { output: answer.output } },
  });
});

it("waits for a command whose agent was killed: the next one tells its end", async () => {
  using caller = await open();
  const { file, command, release } = gated();
  await begin(caller, { input: { command } });
  await killAgent();
  await startAnother();
  release();
  const answer = await onlyAnswer(caller);
  expect(answer).toMatchObject({ type: "success", metadata: { exit_code: 0 } });
  expect(linesOf(file)).toEqual(["line"]);
  expect(await recordOf(rig, answer.call)).toMatchObject({ state: "finished", status: "success" });
});

it("tells the end of a command that nobody saw, because everything was killed", async () => {
  const caller = await open();
  const { file, command, release } = gated();
  const body = { tool: "Bash", input: { command }, idempotency_key: crypto.randomUUID() };
  await begin(caller, body);
  await killAgent();
  await rig.relay.kill();
  release();
  await expect.poll(() => existsSync(file)).toBe(true);
  await startAnother();
  const answer = await invoke(rig.base, rig.token, body);
  expect(answer).toMatchObject({ status: 200, type: "success", metadata: { exit_code: 0 } });
  expect(linesOf(file)).toEqual(["line"]);
  await caller.closed;
});

it("says OUTCOME_UNKNOWN when command and agent were killed, and never runs it again", async () => {
  using caller = await open();
  const file = fileIn(rig);
  const command = `cd '${rig.folder}'; echo line >> '${file}'; ps -o pgid= $$; sleep 300`;
  const body = { tool: "Bash", input: { command }, idempotency_key: crypto.randomUUID() };
  const group = await begin(caller, body);
  await killAgent();
  process.kill(-group, "SIGKILL");
  await startAnother();
  const answer = await onlyAnswer(caller);
  expect(answer).toMatchObject({ type: "error", code: "OUTCOME_UNKNOWN" });
  expect(await recordOf(rig, answer.call)).toMatchObject({ state: "unknown", code: "OUTCOME_UNKNOWN" });
  const again = await invoke(rig.base, rig.token, body);
  expect(again).toMatchObject({ type: "error", code: "OUTCOME_UNKNOWN", call: answer.call });
  expect(linesOf(file)).toEqual(["line"]);
});

it("tells how a command ended that ended before it was cancelled", async () => {
  using caller = await open();
  const { file, command, release } = gated();
  const pid = await begin(caller, { input: { command } });
  // It notes the exit code after the command's own shell has ended.
  const outer = Number(execFileSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8" }));
  const { pid: agent } = rig.agent.child;
  process.kill(agent, "SIGSTOP");
  release();
  await expect.poll(() => isAlive(outer)).toBe(false);
  // The times of files may lag behind the clock: what is cancelled sooner is taken for stopped.
  await sleep(FILE_CLOCK * 2);
  caller.send({ id: "1", action: "cancel" });
  await rig.isOnline();
  process.kill(agent, "SIGCONT");
  expect(await onlyAnswer(caller)).toMatchObject({ type: "success", metadata: { exit_code: 0 } });
  expect(linesOf(file)).toEqual(["line"]);
});

it("stops what runs when it is stopped, says so, and is OFFLINE then", async () => {
  using caller = await open();
  const pid = await begin(caller, { input: { command: gated().command } });
  await rig.agent.child.stop(8000);
  expect((await rig.agent.child.ended).code).toBe(0);
  expect(isAlive(pid)).toBe(false);
  expect(await onlyAnswer(caller)).toMatchObject({ type: "error", code: "CANCELLED" });
  expect(await rig.isOnline()).toBe(false);
  expect(await invoke(rig.base, rig.token, { tool: "SystemInfo" })).toMatchObject({
    ...{ type: "error", code: "DEVICE_OFFLINE", hop: "relay", hint: expect.any(String) },
  });
});
