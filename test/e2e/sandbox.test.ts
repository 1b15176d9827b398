/** An AI grant's commands, through a real relay and agent: they run in the sandbox, in the granted folder. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { NEEDS_SANDBOX } from "../agent/sandbox/needs-sandbox.ts";
import { startAgent } from "./agent.ts";
import { stopWithHolder } from "./holders.ts";
import { type Rig, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => {
  if (rig) await stopWithHolder(rig);
});

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

it("an AI grant's terminal is sandboxed, and goes on when the agent is killed", NEEDS_SANDBOX, async () => {
  const work = join(rig.folder, "terminal");
  mkdirSync(work);
  const person = await rig.relay.signIn();
  const wish = { name: "AI at a terminal", paths: [work], ask: [] };
  const { token } = await rig.relay.request(person, "POST /v1/tokens", minted, wish);
  const call = async (tool: string, input: object) => {
    const answer = await fetch(`${rig.base}/tools/${tool}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify(input),
    });
    return z
      .object({ output: z.string(), metadata: z.looseObject({ terminal: z.string() }) })
      .parse(await answer.json());
  };
  const first = await call("TerminalExecute", { command: `pwd; x=kept; cat ${rig.dataDir}/*` });
  expect(first.output).toMatch(new RegExp(`^${work}\n`));
  expect(first.metadata).toMatchObject({ exit_code: 1, running: false });
  process.kill(rig.agent.child.pid ?? 0, "SIGKILL");
  rig.agent = await startAgent(rig.dataDir);
  await rig.agent.registered();
  const { terminal } = first.metadata;
  expect((await call("TerminalExecute", { command: 'echo "$x" > file; cat file', terminal })).output).toBe(
    "kept\n",
  );
  expect(readFileSync(join(work, "file"), "utf8")).toBe("kept\n");
  expect((await call("TerminalInput", { terminal, text: "pwd\n" })).output).toContain(work);
});
