/** A question that waits outlives the agent and the relay, and its call runs once. */
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { NEEDS_SANDBOX } from "../agent/sandbox/needs-sandbox.ts";
import { startAgent } from "./agent.ts";
import { type Ai, Person } from "./person.ts";
import { fileIn, linesOf, type Rig, recordOf, startRig } from "./rig.ts";

let rig: Rig;
let person: Person;
let ai: Ai;
beforeAll(async () => {
  rig = await startRig();
  person = await Person.signIn(rig);
  ai = await person.grant();
});
afterEach(() => person.denyAll());
afterAll(() => rig?.stop());

/** Makes a call that appends a line, as a request that is let go; resolves when a person is asked. */
async function ask(): Promise<{ file: string; call: string }> {
  const file = fileIn(rig);
  using caller = await ai.open("matrx.v1");
  caller.send({ id: "1", tool: "Bash", input: { command: `echo line >> ${file}` } });
  const { call } = await caller.frame("approval", ({ type }) => type === "approval");
  return { file, call: call ?? "" };
}

async function finished(call: string): Promise<void> {
  await expect.poll(async () => (await recordOf(rig, call)).state, { timeout: 15_000 }).toBe("finished");
}

async function restartAgent(): Promise<void> {
  await rig.agent.child.kill();
  rig.agent = await startAgent(rig.dataDir);
  await rig.agent.registered();
}

it("outlives the agent", { timeout: 60_000, ...NEEDS_SANDBOX }, async () => {
  const { file, call } = await ask();
  await restartAgent();
  const { status } = await person.decide(await person.question(), { decision: "allow" });
  expect(status).toBe(200);
  await finished(call);
  expect(linesOf(file)).toEqual(["line"]);
});

it("is answered while the agent is away", { timeout: 60_000, ...NEEDS_SANDBOX }, async () => {
  const { file, call } = await ask();
  await rig.agent.child.kill();
  await expect.poll(() => rig.isOnline()).toBe(false);
  expect(await person.decide(await person.question(), { decision: "allow" })).toMatchObject({ status: 200 });
  rig.agent = await startAgent(rig.dataDir);
  await finished(call);
  expect(linesOf(file)).toEqual(["line"]);
});

it("outlives the relay, killed", { timeout: 60_000, ...NEEDS_SANDBOX }, async () => {
  const { file, call } = await ask();
  const times = rig.agent.states.filter((state) => state === "REGISTERED").length;
  await rig.relay.kill();
  await rig.agent.registered(times);
  const asked = await person.question();
  expect(asked.call).toBe(call);
  expect(await person.decide(asked, { decision: "allow" })).toMatchObject({ status: 200 });
  await finished(call);
  expect(linesOf(file)).toEqual(["line"]);
});
