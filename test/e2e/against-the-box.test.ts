/** An AI that is never asked, and means harm: what it tries with its own folder, its token and every tool. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { NEEDS_SANDBOX } from "../agent/sandbox/needs-sandbox.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { invoke } from "./caller.ts";
import { type Ai, Person } from "./person.ts";
import { type Rig, startRig } from "./rig.ts";

let rig: Rig;
let ai: Ai;
let other: Ai;
let person: Person;
let outside: string;
beforeAll(async () => {
  outside = makeFolder();
  writeFileSync(join(outside, "secret.txt"), "TOPSECRET\n");
  rig = await startRig();
  person = await Person.signIn(rig);
  ai = await person.grant({ ask: [] });
  other = await person.grant({ name: "other", ask: [] });
});
afterAll(async () => {
  await rig?.stop();
  removeFolder(outside);
});

const REFUSED = { type: "error", code: "PERMISSION_DENIED" };
const OPTIONS = { timeout: 60_000, ...NEEDS_SANDBOX };
const inFolder = (name: string) => join(rig.folder, name);

it("leads no file tool out by a link that its command made", OPTIONS, async () => {
  const command = `ln -s ${outside} out; ln -s ${outside}/secret.txt one; ln -s / root; mkdir d; ln -s ../out d/x`;
  expect(await ai.call("Bash", { command: `cd ${rig.folder}; ${command}` })).toMatchObject({
    type: "success",
  });
  const ways = ["out/secret.txt", "one", `root${outside}/secret.txt`, "d/x/secret.txt"].map(inFolder);
  for (const way of ways) {
    for (const [tool, input] of [
      ["Read", { file_path: way }],
      ["Write", { file_path: way, content: "x" }],
      ["Edit", { file_path: way, old_string: "TOP", new_string: "x" }],
      ["Grep", { pattern: "TOP", path: way }],
      ["OpenPath", { path: way }],
    ] as const) {
      expect(await ai.call(tool, input), `${tool} ${way}`).toMatchObject(REFUSED);
    }
  }
  const moved = await ai.call("Move", { source: inFolder("d"), destination: join(outside, "d") });
  expect(moved).toMatchObject(REFUSED);
  const searched = await ai.call("Grep", { pattern: "TOPSECRET", path: rig.folder, include_ignored: true });
  expect(searched.output).toBe("[No line matches]");
  expect(readdirSync(outside)).toEqual(["secret.txt"]);
  expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("TOPSECRET\n");
});

it("leads no repository of the owner's to a config of its own by file tools", OPTIONS, async () => {
  const repository = inFolder("repository");
  execFileSync("git", ["init", "-q", repository]);
  mkdirSync(join(repository, ".git/worktrees/w"), { recursive: true });
  for (const name of ["config", "hooks/pre-commit", "commondir", "COMMONDIR", "worktrees/w/commondir"]) {
    const file_path = join(repository, ".git", name);
    expect(await ai.call("Write", { file_path, content: "../evil" }), name).toMatchObject(REFUSED);
    const patch = `*** Begin Patch\n*** Add File: ${file_path}\n+../evil\n*** End Patch`;
    expect(await ai.call("ApplyPatch", { patch }), name).toMatchObject(REFUSED);
    writeFileSync(inFolder("evil"), "../evil");
    const moved = { source: inFolder("evil"), destination: file_path, overwrite: true };
    expect(await ai.call("Move", moved), name).toMatchObject(REFUSED);
  }
  expect(readdirSync(join(repository, ".git"))).not.toContain("commondir");
});

it("sees no job, call, key or session of others", OPTIONS, async () => {
  const others = [other.token, rig.token];
  for (const token of others) {
    const run = { tool: "Bash", input: { command: "echo THEIRS", run_in_background: true } };
    const theirs = await invoke(rig.base, token, { ...run, idempotency_key: "one" });
    const bash_id = theirs.metadata?.bash_id;
    expect(await ai.call("BashOutput", { bash_id })).toMatchObject({ code: "NOT_FOUND" });
    const record = `/v1/devices/${rig.device}/calls/${theirs.call}`;
    expect(await ai.ask("GET", record)).toMatchObject({ status: 404 });
    expect(await ai.ask("POST", `${record}/cancel`)).toMatchObject({ status: 404 });
  }
  const own = await ai.call("Bash", { command: "echo MINE" }, "one");
  expect(own).toMatchObject({ type: "success", output: "MINE\n" });
  const { body } = await ai.ask("GET", `/v1/devices/${rig.device}/calls?limit=100`);
  expect(JSON.stringify(body)).not.toContain("THEIRS");
});

it("is told where its command ran, and of no folder that it can't see", OPTIONS, async () => {
  const { metadata, output } = await ai.call("Bash", { command: "pwd" });
  expect(output).toBe(`${rig.folder}\n`);
  expect(metadata?.cwd).toBe(rig.folder);
});

it("does nothing that takes a person", { timeout: 60_000 }, async () => {
  const device = `/v1/devices/${rig.device}`;
  for (const [method, path, body] of [
    ["GET", "/v1/tokens"],
    ["POST", "/v1/tokens", { name: "x", paths: ["/"] }],
    ["PATCH", `/v1/tokens/${ai.id}`, { paths: null }],
    ["DELETE", `/v1/tokens/${other.id}`],
    ["POST", "/v1/sign-in-links", {}],
    ["GET", "/v1/approvals"],
    ["GET", `${device}/policy`],
    ["PUT", `${device}/policy`, {}],
    ["POST", `${device}/policy/explain`, { tool: "Bash", grant: other.id }],
    ["PATCH", device, { tags: ["x"] }],
    ["DELETE", device],
    ["POST", `${device}/commands`, { command: "shutdown" }],
    ["GET", `${device}/events`],
  ] as const) {
    expect((await ai.ask(method, path, body)).status, `${method} ${path}`).toBe(403);
  }
});

it("gets no call through once its grant is narrower, however many it makes meanwhile", OPTIONS, async () => {
  const fast = await person.grant({ name: "fast", ask: [] });
  using caller = await fast.open();
  await caller.call("first", "Write", { file_path: inFolder("first"), content: "x" });
  const send = (id: string) =>
    caller.send({ id, tool: "Write", input: { file_path: inFolder(`raced-${id}`), content: "x" } });
  const early = Array.from({ length: 20 }, (_, n) => `early-${n}`);
  for (const id of early) send(id);
  const changed = await person.ask("PATCH", `/v1/tokens/${fast.id}`, { effects: ["read"] });
  expect(changed).toMatchObject({ status: 200, body: { devices_holding: 1, devices_acknowledged: 1 } });
  const late = Array.from({ length: 20 }, (_, n) => `late-${n}`);
  for (const id of late) send(id);
  for (const id of late) expect(await caller.answer(id), id).toMatchObject(REFUSED);
  for (const id of early) await caller.answer(id);
  expect(readdirSync(rig.folder).filter((name) => name.startsWith("raced-late"))).toEqual([]);
});
