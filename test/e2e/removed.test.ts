/** A device that its owner removed: what its agent says works, and an agent that was away goes on asking. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { MATRX_BIN } from "../../scripts/matrx-bin.ts";
import { agentEnvironment } from "../../scripts/start/agent.ts";
import { isAlive, started } from "../../scripts/start/process.ts";
import { startAgent } from "./agent.ts";
import { type Rig, startRig } from "./rig.ts";

async function remove({ relay, device }: Rig): Promise<void> {
  await relay.request(await relay.signIn(), `DELETE /v1/devices/${device}`, z.unknown());
}

it("ends its agent with a hint that pairs the machine anew", async () => {
  const rig = await startRig();
  onTestFinished(() => rig.stop());
  await remove(rig);
  expect(await rig.agent.child.ended).toMatchObject({ code: 77 });
  const hint = /matrx (pair --replace)$/m.exec(rig.agent.errors())?.[1] ?? "";
  const pairing = spawn(process.execPath, [MATRX_BIN, ...hint.split(" "), "--yes", "--json"], {
    env: agentEnvironment(rig.dataDir),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { ended, kill } = await started(pairing);
  onTestFinished(kill);
  const owner = await rig.relay.signIn();
  for await (const line of createInterface({ input: pairing.stdout })) {
    const { code } = JSON.parse(line) as { code?: string };
    if (code) await rig.relay.request(owner, `POST /v1/pairings/${code}/confirm`, z.unknown(), {});
  }
  expect(await ended).toMatchObject({ code: 0 });
  rig.agent = await startAgent(rig.dataDir);
  await rig.agent.registered();
});

it("does not end its agent while it is away: the relay's data may be brought back", async () => {
  const rig = await startRig();
  onTestFinished(() => rig.stop());
  const disconnected = () => rig.agent.states.filter((state) => state === "DISCONNECTED").length;
  rig.line.leadTo(9);
  rig.line.cut();
  await expect.poll(disconnected).toBeGreaterThan(1);
  await remove(rig);
  const before = disconnected();
  rig.line.leadTo(rig.relay.port);
  await expect.poll(disconnected).toBeGreaterThan(before);
  expect(isAlive(rig.agent.child.pid)).toBe(true);
});
