/** A person's commands to a real agent through a real relay: it starts anew or stops, and whoever waits is told. */
import { appendFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { commandedSchema, deviceViewSchema } from "../../shared/api.ts";
import { startAgent } from "./agent.ts";
import { Caller } from "./caller.ts";
import { linesOf, type Rig, recordOf, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

const open = () => Caller.open(rig.relay.url, rig.device, rig.token);
const registrations = () => rig.agent.states.filter((state) => state === "REGISTERED").length;

async function command(name: string): Promise<void> {
  const person = await rig.relay.signIn();
  const route = `POST /v1/devices/${rig.device}/commands` as const;
  const answer = await rig.relay.request(person, route, commandedSchema, { command: name });
  expect(answer).toEqual({ device: rig.device, command: name });
}

/** A command that runs until it is stopped; resolves when it does. */
async function begin(caller: Caller): Promise<void> {
  caller.send({ id: "1", tool: "Bash", stream: true, input: { command: "echo begun; exec sleep 60" } });
  await caller.frame("live output", ({ type }) => type === "output");
}

async function toldThatItWasStopped(caller: Caller): Promise<void> {
  const answer = await caller.answer("1");
  expect(answer).toMatchObject({ type: "error", code: "CANCELLED" });
  expect(await recordOf(rig, answer.call)).toMatchObject({ state: "finished", code: "CANCELLED" });
}

it("restart_client runs the program as it now is on the disk, in the same process", async () => {
  const [program, runs] = [join(rig.folder, "program.mjs"), join(rig.folder, "runs")];
  const write = (version: number) =>
    writeFileSync(
      program,
      `import { appendFileSync } from "node:fs";
       appendFileSync(${JSON.stringify(runs)}, "${version} " + process.pid + "\\n");`,
    );
  appendFileSync(runs, "");
  write(1);
  await rig.agent.child.stop(5000);
  rig.agent = await startAgent(rig.dataDir, { NODE_OPTIONS: `--import=${pathToFileURL(program)}` });
  await rig.agent.registered();
  const { pid } = rig.agent.child;
  expect(linesOf(runs)).toEqual([`1 ${pid}`]);

  using caller = await open();
  await begin(caller);
  write(2);
  const times = registrations();
  await command("restart_client");
  await toldThatItWasStopped(caller);
  await rig.agent.registered(times);
  // The command that ran, and perhaps others that it called, ran this file too.
  expect(linesOf(runs).filter((line) => line.endsWith(` ${pid}`))).toEqual([`1 ${pid}`, `2 ${pid}`]);
  expect(await caller.call("2", "SystemInfo")).toMatchObject({ type: "success" });
});

it("shutdown stops calls, closes the journal and ends with 0", async () => {
  using caller = await open();
  await begin(caller);
  await command("shutdown");
  await toldThatItWasStopped(caller);
  expect((await rig.agent.child.ended).code).toBe(0);
  const left = readdirSync(join(rig.dataDir, "agent"), { recursive: true, encoding: "utf8" });
  expect(left.filter((name) => /journal/.test(name))).not.toEqual([]);
  expect(left.filter((name) => name.endsWith("-wal"))).toEqual([]);
  const { state } = await rig.relay.request(
    { token: rig.token },
    `GET /v1/devices/${rig.device}`,
    deviceViewSchema,
  );
  expect(state).toBe("OFFLINE");

  rig.agent = await startAgent(rig.dataDir);
  await rig.agent.registered();
  expect(await caller.call("2", "SystemInfo")).toMatchObject({ type: "success" });
});
