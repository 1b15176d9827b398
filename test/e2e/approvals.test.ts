/** Calls that a person is asked about, from end to end: a real agent, a real relay, and a person at a command line. */
import { existsSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { confirmed, type Desk, openDesk } from "../agent/cli/desk.ts";
import { endOf, runMatrx, startMatrx } from "../agent/cli/matrx.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { startAgent } from "./agent.ts";
import { fileIn, type Rig, startRig } from "./rig.ts";

let rig: Rig;
/** The caller, and the person. */
let desk: Desk;
let home: string;
beforeAll(async () => {
  rig = await startRig();
  desk = openDesk(rig);
  home = makeFolder();
  const route = `PUT /v1/devices/${rig.device}/policy` as const;
  await rig.relay.request(await rig.relay.signIn(), route, z.unknown(), { ask: [{ effects: ["write"] }] });
});
afterAll(async () => {
  desk.close();
  removeFolder(home);
  await rig?.stop();
});

const person = (...args: string[]) => runMatrx(args, { home, env: { MATRX_RELAY: rig.relay.url } });

/** A call of the caller's, which waits. Throws if it ends instead. */
async function waiting(tool: string, input: Record<string, unknown>) {
  const child = startMatrx(["call", rig.device, tool, JSON.stringify(input), "--json"], desk);
  const ended = endOf(child);
  const id = new Promise<string>((resolve) => {
    let said = "";
    child.stderr?.on("data", (text) => {
      said += text;
      const [, approval] = /Waiting for approval (approval_\w+), expires at/.exec(said) ?? [];
      if (approval) resolve(approval);
    });
  });
  const end = ended.then(({ stdout, stderr }) => {
    throw new Error(`It did not wait: ${stdout}${stderr}`);
  });
  return { id: await Promise.race([id, end]), ended };
}

it("a person signs in at a command line", async () => {
  expect((await confirmed(rig.relay, home, ["login"])).code).toBe(0);
});

it("the caller waits, the person sees what would happen and allows it, and it happens", async () => {
  const file = fileIn(rig);
  writeFileSync(file, "one\n");
  const { id, ended } = await waiting("Write", { file_path: file, content: "two\n" });
  const listed = await person("approvals");
  expect(listed.stdout).toContain(id);
  const shown = await person("approvals", "show", id);
  expect(shown.stdout).toContain("  | -one\n  | +two\n");
  expect(readFileSync(file, "utf8")).toBe("one\n");
  expect((await person("approvals", "allow", id)).stdout).toContain(`Allowed: Change ${file}`);
  expect((await ended).code).toBe(0);
  expect(readFileSync(file, "utf8")).toBe("two\n");
});

it("a no comes with a word, and nothing happens", async () => {
  const file = fileIn(rig);
  const { id, ended } = await waiting("Write", { file_path: file, content: "x" });
  await person("approvals", "deny", id, "--note", "not in this folder");
  const { stdout } = await ended;
  expect(stdout).toContain("not in this folder");
  expect(stdout).toContain("APPROVAL_DENIED");
  expect(existsSync(file)).toBe(false);
});

it("what changes after the question was asked makes the yes void", async () => {
  const [file, other, link] = [fileIn(rig), fileIn(rig), fileIn(rig)];
  writeFileSync(file, "one\n");
  writeFileSync(other, "one\n");
  symlinkSync(file, link);
  const { id, ended } = await waiting("Edit", { file_path: link, old_string: "one", new_string: "two" });
  unlinkSync(link);
  symlinkSync(other, link);
  await person("approvals", "allow", id);
  expect((await ended).stdout).toContain("changed since it was approved");
  expect([file, other].map((path) => readFileSync(path, "utf8"))).toEqual(["one\n", "one\n"]);
});

it("what the device's own policy asks about is asked, as soon as the file says so; at the machine, only there", async () => {
  const policy = join(rig.dataDir, "agent", "policy.json");
  writeFileSync(policy, JSON.stringify({ ask: [{ tools: ["Bash"], at: "machine" }] }), { mode: 0o600 });
  try {
    const { id, ended, marker } = await waitingAtMachine((file) => `echo x > ${file}`);
    const remote = await person("approvals", "allow", id);
    expect(remote.code).not.toBe(0);
    expect(existsSync(marker)).toBe(false);
    const [local] = JSON.parse((await here("approvals", "--here", "--json")).stdout).approvals;
    expect((await here("approvals", "allow", local.id, "--here")).code).toBe(0);
    expect((await ended).code).toBe(0);
    expect(readFileSync(marker, "utf8")).toBe("x\n");
  } finally {
    unlinkSync(policy);
  }
});

it("an agent that starts anew asks again, and takes the relay's yes only for the same thing", async () => {
  const [file, changed] = [fileIn(rig), fileIn(rig)];
  writeFileSync(changed, "one\n");
  const first = await waiting("Write", { file_path: file, content: "x" });
  const second = await waiting("Write", { file_path: changed, content: "two\n" });
  await rig.agent.child.stop(5000);
  writeFileSync(changed, "other\n");
  rig.agent = await startAgent(rig.dataDir);
  await rig.agent.registered();
  for (const { id } of [first, second]) await person("approvals", "allow", id);
  expect((await first.ended).code).toBe(0);
  expect((await second.ended).stdout).toContain("changed since it was approved");
  expect([file, changed].map((path) => readFileSync(path, "utf8"))).toEqual(["x", "other\n"]);
});

it("a question at the machine comes back after the agent's restart", async () => {
  const policy = join(rig.dataDir, "agent", "policy.json");
  writeFileSync(policy, JSON.stringify({ ask: [{ tools: ["Bash"], at: "machine" }] }), { mode: 0o600 });
  try {
    await rig.agent.child.stop(5000);
    rig.agent = await startAgent(rig.dataDir);
    await rig.agent.registered();
    const { ended } = await waitingAtMachine(() => "true");
    await rig.agent.child.stop(5000);
    rig.agent = await startAgent(rig.dataDir);
    await rig.agent.registered();
    const list = async () =>
      JSON.parse((await here("approvals", "--here", "--json")).stdout).approvals as { id: string }[];
    await expect.poll(list).toHaveLength(1);
    const [local] = await list();
    await here("approvals", "allow", local?.id ?? "", "--here");
    expect((await ended).code).toBe(0);
  } finally {
    unlinkSync(policy);
  }
});

const here = (...args: string[]) => runMatrx(args, { home: join(rig.dataDir, "agent") });

/** Agent and relay learn of a changed policy file after a moment: what is called before is not asked about. */
async function waitingAtMachine(commandFor: (marker: string) => string) {
  for (;;) {
    const marker = fileIn(rig);
    try {
      return { marker, ...(await waiting("Bash", { command: commandFor(marker) })) };
    } catch (error) {
      if (!/"output":""|nobody was asked yet/.test(String(error))) throw error;
    }
  }
}
