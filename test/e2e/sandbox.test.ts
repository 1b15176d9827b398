/** An AI grant's commands, through a real relay and agent: they run in the sandbox, in the granted folder. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { NEEDS_SANDBOX } from "../agent/sandbox/needs-sandbox.ts";
import { type Rig, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

const minted = z.object({ token: z.string() });

it("an AI grant's command works in its folder, and reaches nothing else", NEEDS_SANDBOX, async () => {
  const work = join(rig.folder, "work");
  mkdirSync(work);
  writeFileSync(join(work, ".env"), "SECRET");
  writeFileSync(join(rig.folder, "outside"), "SECRET");
  const person = await rig.relay.signIn();
  const wish = { name: "AI", paths: [work], ask: [] };
  const { token } = await rig.relay.request(person, "POST /v1/tokens", minted, wish);
  const command = [
    "pwd; echo made > file",
    `cat .env ../outside ${rig.dataDir}/* ~/.bashrc /etc/shadow`,
    `exec 3<> /dev/tcp/127.0.0.1/${rig.relay.port}`,
    "exit 7",
  ].join("\n");
  const answer = await fetch(`${rig.base}/tools/Bash`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ command }),
  });
  const { output, metadata } = z
    .object({ output: z.string(), metadata: z.looseObject({ exit_code: z.number(), cwd: z.string() }) })
    .parse(await answer.json());
  expect(output).toMatch(new RegExp(`^${work}\n`));
  expect(output).not.toMatch(/SECRET|root:/);
  expect(output).toContain("/dev/tcp");
  expect(metadata.cwd).toBe(work);
  expect(readdirSync(work).sort()).toEqual([".env", "file"]);
  expect(readFileSync(join(work, "file"), "utf8")).toBe("made\n");
});
