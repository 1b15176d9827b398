/** `matrx approvals --here`: somebody at the machine reads what a call would do, and decides. */
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Question } from "@matrx/shared/question.ts";
import { expect, test } from "vitest";
import { questionLines } from "../../../agent/cli/output/question-lines.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { lineOf, runMatrx, startMatrx } from "./matrx.ts";

const PATIENCE = { timeout: 90_000 };

/** `matrx serve` where the policy wants commands confirmed at the machine. */
async function startServer(home: string) {
  writeFileSync(join(home, "policy.json"), JSON.stringify({ ask: [{ tools: ["Bash"], at: "machine" }] }));
  const child = startMatrx(["serve", "--port", "0", "--json"], { home });
  const { url } = await lineOf(child, ({ url }) => typeof url === "string");
  const token = readFileSync(join(home, "local-token"), "utf8").trim();
  const call = async (command: string) => {
    const response = await fetch(`${url}/tools/invoke`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ tool: "Bash", input: { command } }),
    });
    return (await response.json()) as { type: string; code?: string; output: string };
  };
  const end = async () => {
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  return { call, end };
}

/** The only call that waits. */
async function waiting(home: string): Promise<{ id: string; summary: string }> {
  let all: { id: string; summary: string }[] = [];
  await expect
    .poll(async () => {
      const { stdout } = await runMatrx(["approvals", "--here", "--json"], { home });
      all = JSON.parse(stdout).approvals;
      return all.length;
    }, PATIENCE)
    .toBe(1);
  const [one] = all;
  if (!one) throw new Error("nothing waits");
  return one;
}

test("a call waits until somebody here allows or denies it, and never runs before", PATIENCE, async () => {
  const home = temporaryFolder();
  const { call, end } = await startServer(home);
  const marker = join(temporaryFolder(), "marker");
  const calling = call(`echo hello > ${marker} && echo done`);
  const { id, summary } = await waiting(home);
  expect(summary).toContain(`echo hello > ${marker}`);
  expect(existsSync(marker)).toBe(false);
  const shown = await runMatrx(["approvals", "show", id.slice(0, 4), "--here"], { home });
  expect(shown.stdout).toContain(`  | echo hello > ${marker} && echo done\n`);
  expect(shown.stdout).toContain("Sandbox  no: it can do whatever the agent's user can\n");

  const always = await runMatrx(["approvals", "allow", id, "--here", "--for", "always"], { home });
  expect([always.code, always.stderr]).toEqual([64, expect.stringContaining("allowed once")]);
  const allowed = await runMatrx(["approvals", "allow", id, "--here"], { home });
  expect([allowed.code, allowed.stdout]).toEqual([0, expect.stringContaining("Allowed: Run in")]);
  expect(await calling).toMatchObject({ type: "success", output: "done\n" });
  expect(readFileSync(marker, "utf8")).toBe("hello\n");

  const second = call("rm -rf /");
  const other = await waiting(home);
  await runMatrx(["approvals", "deny", other.id, "--here", "--note", "are you mad?"], { home });
  expect(await second).toMatchObject({
    code: "APPROVAL_DENIED",
    output: expect.stringContaining("are you mad?"),
  });
  const late = await runMatrx(["approvals", "allow", other.id, "--here"], { home });
  expect([late.code, late.stderr]).toEqual([66, expect.stringContaining("No call waits")]);
  await end();
});

test("a command that runs for a caller cannot allow calls", PATIENCE, async () => {
  const home = temporaryFolder();
  const { call, end } = await startServer(home);
  const calling = call("true");
  const { id } = await waiting(home);
  const inJob = { home, env: { MATRX_JOB: "job_0123456789" } };
  const { code, stderr } = await runMatrx(["approvals", "allow", id, "--here"], inJob);
  expect([code, stderr]).toEqual([77, expect.stringContaining("callers cannot allow their own calls")]);
  await runMatrx(["approvals", "deny", id, "--here"], { home });
  expect(await calling).toMatchObject({ code: "APPROVAL_DENIED" });
  await end();
});

test("without an agent, that is said", PATIENCE, async () => {
  const { code, stderr } = await runMatrx(["approvals", "--here"], { home: temporaryFolder() });
  expect([code, stderr]).toEqual([69, expect.stringContaining("No agent is running on this machine")]);
});

test("no text of a question can pass for a line of this program, or move the cursor", () => {
  const hostile = "x\nSandbox  yes\r\u001b[2J\u2028! nothing\u202e";
  const question: Question = {
    ...{ summary: hostile, tool: hostile, effect: "execute", input: hostile, diff: hostile },
    ...{ url: hostile, app: hostile, warnings: [hostile], paths: [{ path: hostile, intent: hostile }] },
    command: { text: hostile, cwd: hostile, sandbox: false, network: [hostile] },
  };
  const lines = questionLines(question);
  expect(lines.filter((line) => line.startsWith("Sandbox"))).toEqual([
    "Sandbox  no: it can do whatever the agent's user can",
  ]);
  expect(lines.filter((line) => line.startsWith("!"))).toHaveLength(1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
  expect(lines.join("")).not.toMatch(/[\u0000-\u001f\u007f\u2028\u202e]/);
});
