/** An AI's call waits for the owner, with the real relay and the real agent: what was shown runs, once, or nothing does. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { makeToken } from "../../scripts/start/owner.ts";
import { approvalDetailSchema, approvalListSchema } from "../../shared/approval.ts";
import { NEEDS_SANDBOX } from "../agent/sandbox/needs-sandbox.ts";
import { startAgent } from "./agent.ts";
import { invoke } from "./caller.ts";
import { fileIn, type Rig, startRig } from "./rig.ts";

/** What the AI asks for, and what its owner sees and answers. */
async function asked(rig: Rig) {
  const owner = await rig.relay.signIn();
  const token = await makeToken(rig.relay, owner, { name: "assistant", paths: [rig.folder] });
  const waiting = async () =>
    (await rig.relay.request(owner, "GET /v1/approvals", approvalListSchema)).approvals;
  const pathOf = (id: string) => `/v1/devices/${rig.device}/approvals/${id}` as const;
  return {
    token,
    waiting,
    write: (file_path: string, content: string) =>
      invoke(rig.base, token, { tool: "Write", input: { file_path, content } }),
    /** The one call that waits. */
    async question() {
      await expect.poll(waiting).toHaveLength(1);
      const [{ id = "" } = {}] = await waiting();
      return rig.relay.request(owner, `GET ${pathOf(id)}`, approvalDetailSchema);
    },
    decide: (id: string, decision: unknown) =>
      rig.relay.request(owner, `POST ${pathOf(id)}`, approvalDetailSchema, decision),
  };
}

it("runs what the owner saw, through restarts of relay and agent, and nothing else", {
  timeout: 120_000,
}, async () => {
  const rig = await startRig();
  onTestFinished(() => rig.stop());
  const { write, question, decide } = await asked(rig);
  const file = fileIn(rig);

  const first = write(file, "one\n");
  const shown = await question();
  expect(shown).toMatchObject({ tool: "Write", grant_name: "assistant", effect: "write" });
  expect(shown.question.paths).toMatchObject([{ path: file }]);
  expect(shown.question.diff).toContain("+one");
  expect(existsSync(file)).toBe(false);
  await decide(shown.id, { decision: "allow" });
  expect(await first).toMatchObject({ type: "success" });
  expect(readFileSync(file, "utf8")).toBe("one\n");

  const second = write(fileIn(rig), "two\n");
  const { id } = await question();
  await decide(id, { decision: "deny", note: "not there" });
  expect(await second).toMatchObject({
    code: "APPROVAL_DENIED",
    output: expect.stringContaining("not there"),
  });

  // The file is another one by the time that the owner says yes.
  const third = write(file, "three\n");
  const stale = await question();
  writeFileSync(file, "changed by somebody else\n");
  await decide(stale.id, { decision: "allow" });
  expect(await third).toMatchObject({ type: "error", code: "CONFLICT", hop: "agent" });
  expect(readFileSync(file, "utf8")).toBe("changed by somebody else\n");

  // Its caller is gone with the relay, but not the call.
  const last = fileIn(rig);
  write(last, "four\n").catch(() => undefined);
  const kept = await question();
  await rig.agent.child.kill();
  await rig.restartRelay(() => undefined);
  expect((await question()).id).toBe(kept.id);
  await decide(kept.id, { decision: "allow" });
  rig.agent = await startAgent(rig.dataDir);
  await rig.agent.registered();
  await expect.poll(() => existsSync(last)).toBe(true);
  expect(readFileSync(last, "utf8")).toBe("four\n");
});

it("lets an AI look around by read-only commands and asks nobody, whatever it tries by them", {
  timeout: 60_000,
  ...NEEDS_SANDBOX,
}, async () => {
  const rig = await startRig();
  onTestFinished(() => rig.stop());
  const { token, waiting, question, decide } = await asked(rig);
  const file = fileIn(rig);
  writeFileSync(file, "content\n");
  const bash = (input: object) => invoke(rig.base, token, { tool: "Bash", input: { ...input } });
  const command = `cat ${file}; echo changed > ${file}`;
  const read = await bash({ command, read_only: true });
  expect(read.output).toMatch(/^content\n[\s\S]*Read-only file system/);
  expect(await waiting()).toEqual([]);

  const claimed = bash({ command, read_only: "true" });
  const { id, effect } = await question();
  expect(effect).toBe("execute");
  await decide(id, { decision: "allow" });
  expect((await claimed).output).toContain("Read-only file system");
  expect(readFileSync(file, "utf8")).toBe("content\n");

  const acts = bash({ command });
  await decide((await question()).id, { decision: "allow", input: { command, read_only: true } });
  expect((await acts).output).toContain("Read-only file system");
  expect(readFileSync(file, "utf8")).toBe("content\n");
});
