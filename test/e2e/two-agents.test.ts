/** Two agents with one identity: never both, and never in turns. */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { agentFolder } from "../../scripts/start/agent.ts";
import { eventListSchema } from "../../shared/api.ts";
import { openDesk } from "../agent/cli/desk.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { connectMachine } from "../helpers/machine.ts";
import { startRelay } from "../helpers/relay.ts";
import { startAgent } from "./agent.ts";
import { invoke } from "./caller.ts";
import { startRig } from "./rig.ts";

/** The same identity in another folder, as after a restored backup. */
function copyOf(dataDir: string): string {
  const elsewhere = temporaryFolder();
  mkdirSync(agentFolder(elsewhere), { mode: 0o700 });
  for (const file of ["config.json", "key"])
    copyFileSync(join(agentFolder(dataDir), file), join(agentFolder(elsewhere), file));
  return elsewhere;
}

it("lets the newer one win; the older says so and stops", async () => {
  const rig = await startRig();
  onTestFinished(() => rig.stop());
  const elsewhere = copyOf(rig.dataDir);
  const older = rig.agent;
  const newer = await startAgent(elsewhere);
  rig.agent = newer;
  await newer.registered();
  expect((await older.child.ended).code).toBe(65);
  expect(older.errors()).toContain("Another agent connected as this device");
  expect(older.states.at(-1)).toBe("DISCONNECTED");
  expect(await rig.isOnline()).toBe(true);
  const command = "true";
  expect(await invoke(rig.base, rig.token, { tool: "Bash", input: { command } })).toMatchObject({
    type: "success",
  });
  expect(newer.states.at(-1)).toBe("REGISTERED");
});

it("lets the newer one win over an agent that npm start keeps running", async () => {
  const relay = await startRelay();
  onTestFinished(() => relay.stop());
  const { agent: older } = await connectMachine(relay);
  onTestFinished(() => older.stop());
  const newer = await startAgent(copyOf(relay.dataDir));
  onTestFinished(() => newer.child.stop(5000));
  await newer.registered();
  expect(await older.gaveUp).toContain("Another agent connected as this device");
  expect(newer.states.at(-1)).toBe("REGISTERED");
});

it("that are started again each time are told to their owner", async () => {
  const rig = await startRig();
  onTestFinished(() => rig.stop());
  const folders = [copyOf(rig.dataDir), rig.dataDir];
  for (const folder of [...folders, ...folders].slice(0, 3)) {
    const newer = await startAgent(folder);
    await newer.registered();
    await rig.agent.child.ended;
    rig.agent = newer;
  }
  const desk = openDesk(rig);
  onTestFinished(() => desk.close());
  await expect
    .poll(async () => (await desk.matrx(["devices"])).stderr)
    .toMatch(/has 1 open alert: (npx )?matrx events \S+ --open/);
  const { stdout } = await desk.matrx(["events", rig.device, "--open"]);
  expect(stdout).toMatch(/identity_shared.*open\n.*matrx pair --replace --name NAME/);
});

it("are told from one agent on a bad line, whose dead connection answers nobody", async () => {
  const rig = await startRig();
  onTestFinished(() => rig.stop());
  for (const _ of "1234") {
    rig.line.hold("up");
    rig.line.hold("down");
    // The same agent, as far as the relay can tell: it dials again while the relay has yet to see that the line is dead.
    const again = await startAgent(copyOf(rig.dataDir));
    await again.registered();
    await rig.agent.child.kill();
    rig.agent = again;
  }
  const path = `GET /v1/devices/${rig.device}/events` as const;
  expect((await rig.relay.request({ token: rig.token }, path, eventListSchema)).events).toEqual([]);
});
