/** Two agents with one identity: never both, and never in turns. */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { agentFolder } from "../../scripts/start/agent.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { startAgent } from "./agent.ts";
import { invoke } from "./caller.ts";
import { startRig } from "./rig.ts";

it("lets the newer one win; the older says so and stops", async () => {
  const rig = await startRig();
  onTestFinished(() => rig.stop());
  const elsewhere = temporaryFolder();
  mkdirSync(agentFolder(elsewhere), { mode: 0o700 });
  for (const file of ["config.json", "key"])
    copyFileSync(join(agentFolder(rig.dataDir), file), join(agentFolder(elsewhere), file));
  const older = rig.agent;
  const newer = await startAgent(elsewhere);
  rig.agent = newer;
  await newer.registered();
  expect((await older.child.ended).code).toBe(65);
  expect(older.errors()).toContain("Another connection of this same device took over");
  expect(older.states.at(-1)).toBe("DISCONNECTED");
  expect(await rig.isOnline()).toBe(true);
  const command = "true";
  expect(await invoke(rig.base, rig.token, { tool: "Bash", input: { command } })).toMatchObject({
    type: "success",
  });
  expect(newer.states.at(-1)).toBe("REGISTERED");
});
