/** A person lets an AI work in one folder: it reads there, and asks before it does more. All parts are real. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { agentFolder } from "../../scripts/start/agent.ts";
import { runMatrx } from "../agent/cli/matrx.ts";
import { NEEDS_SANDBOX } from "../agent/sandbox/needs-sandbox.ts";
import { type Ai, Person } from "./person.ts";
import { processesOf } from "./processes.ts";
import { fileIn, linesOf, type Rig, startRig } from "./rig.ts";

let rig: Rig;
let person: Person;
beforeAll(async () => {
  rig = await startRig();
  person = await Person.signIn(rig);
});
// What a failed test left waiting is no question of the next.
afterEach(() => person.denyAll());
afterAll(() => rig?.stop());

const REFUSED = { type: "error", code: "PERMISSION_DENIED" };
const DONE = { type: "success" };

const write = (file: string, content: string) => ["Write", { file_path: file, content }] as const;

it("reads in its folder, and neither elsewhere nor what holds secrets", async () => {
  const ai = await person.grant();
  const file = fileIn(rig);
  writeFileSync(file, "the quick fox\n");
  expect(await ai.call("Read", { file_path: file })).toMatchObject({
    ...DONE,
    output: expect.stringContaining("the quick fox"),
  });
  mkdirSync(join(rig.folder, ".ssh"), { recursive: true });
  for (const [name, secret] of [
    [".env", "a"],
    [".env.local", "b"],
    [".ssh/id_ed25519", "c"],
  ] as const) {
    writeFileSync(join(rig.folder, name), `SECRET_${secret}`);
    expect(await ai.call("Read", { file_path: join(rig.folder, name) }), name).toMatchObject(REFUSED);
  }
  for (const path of ["/etc/passwd", join(homedir(), ".ssh"), `${rig.folder}/../../etc/passwd`]) {
    expect(await ai.call("Read", { file_path: path }), path).toMatchObject(REFUSED);
  }
  expect(await ai.call("Grep", { pattern: "SECRET_", path: rig.folder })).not.toMatchObject({
    output: expect.stringContaining("SECRET_a"),
  });
  expect(await person.waiting()).toEqual([]);
});

describe("a write is asked about", () => {
  let ai: Ai;
  beforeAll(async () => {
    ai = await person.grant();
  });

  it("with a diff; allowed once, it runs once", async () => {
    const file = fileIn(rig);
    writeFileSync(file, "one\ntwo\n");
    await ai.call("Read", { file_path: file });
    const call = ai.call("Edit", { file_path: file, old_string: "two", new_string: "three" });
    const { question, ...asked } = await person.question();
    expect(asked).toMatchObject({ state: "pending", tool: "Edit", effect: "write", grant_name: "assistant" });
    expect(question.diff).toContain("-two\n+three");
    expect(question.paths).toEqual([{ path: file, intent: "change" }]);
    expect(readFileSync(file, "utf8")).toBe("one\ntwo\n");
    expect(await person.decide(asked, { decision: "allow" })).toMatchObject({
      status: 200,
      body: { state: "allowed", for: "once" },
    });
    expect(await call).toMatchObject(DONE);
    expect(readFileSync(file, "utf8")).toBe("one\nthree\n");
    expect(await person.decide(asked, { decision: "deny" })).toMatchObject({ status: 409 });
  });

  it("and denied with a word, which reaches the AI", async () => {
    const file = fileIn(rig);
    const answer = await person.answer(ai.call(...write(file, "x")), {
      decision: "deny",
      note: "use notes.md instead",
    });
    expect(answer).toMatchObject({ type: "error", code: "APPROVAL_DENIED" });
    expect(answer.output).toContain("use notes.md instead");
    expect(existsSync(file)).toBe(false);
  });

  it("and allowed for an hour: the same call passes, another is asked about", async () => {
    const folder = fileIn(rig);
    const list = { command: `ls ${rig.folder} > /dev/null && echo listed` };
    expect(await person.answer(ai.call("Bash", list), { decision: "allow", for: "hour" })).toMatchObject({
      output: expect.stringContaining("listed"),
    });
    expect(await ai.call("Bash", list)).toMatchObject({ output: expect.stringContaining("listed") });
    const other = ai.call("create_directory", { path: folder });
    expect(await person.answer(other, { decision: "deny" })).toMatchObject({ code: "APPROVAL_DENIED" });
  });

  it("and edited before it is allowed", async () => {
    const file = fileIn(rig);
    const answer = await person.answer(ai.call(...write(file, "from the AI")), {
      decision: "allow",
      input: { file_path: file, content: "from the person" },
    });
    expect(answer).toMatchObject({ ...DONE, metadata: { approval: { edited: true } } });
    expect(readFileSync(file, "utf8")).toBe("from the person");
  });

  it("and not run if the file changed meanwhile", async () => {
    const file = fileIn(rig);
    writeFileSync(file, "as it was shown\n");
    await ai.call("Read", { file_path: file });
    const call = ai.call("Edit", { file_path: file, old_string: "shown", new_string: "changed" });
    const asked = await person.question();
    writeFileSync(file, "as it was shown, and more\n");
    await person.decide(asked, { decision: "allow" });
    expect(await call).toMatchObject({ type: "error", code: "CONFLICT" });
    expect(readFileSync(file, "utf8")).toBe("as it was shown, and more\n");
  });

  it("and always allowed: the grant says so, and the next is not asked about", async () => {
    const own = await person.grant({ name: "trusted" });
    const file = fileIn(rig);
    expect(
      await person.answer(own.call(...write(file, "1")), { decision: "allow", for: "always" }),
    ).toMatchObject(DONE);
    expect((await person.ask("GET", `/v1/tokens/${own.id}`)).body).toMatchObject({
      version: 2,
      ask: [{ effects: ["write", "execute"], except: ["Write"] }],
    });
    expect(await own.call(...write(fileIn(rig), "2"))).toMatchObject(DONE);
    const bash = own.call("Bash", { command: "true" });
    expect(await person.answer(bash, { decision: "deny" })).toMatchObject({ code: "APPROVAL_DENIED" });
  });

  it("by nobody but the person", async () => {
    const file = fileIn(rig);
    const call = ai.call(...write(file, "x"));
    const { device, id } = await person.question();
    const path = `/v1/devices/${device}/approvals/${id}`;
    for (const token of [ai.token, rig.token]) {
      for (const [method, where, body] of [
        ["POST", path, { decision: "allow" }],
        ["GET", path, undefined],
        ["GET", "/v1/approvals", undefined],
      ] as const) {
        const response = await fetch(rig.relay.url + where, {
          method,
          headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
          ...(body && { body: JSON.stringify(body) }),
        });
        expect(response.status, `${method} ${where}`).toBe(403);
      }
    }
    expect(existsSync(file)).toBe(false);
    expect(await person.answer(call, { decision: "deny" })).toMatchObject({ code: "APPROVAL_DENIED" });
  });

  it("and dropped when the grant is revoked", async () => {
    const own = await person.grant({ name: "short-lived" });
    const file = fileIn(rig);
    const call = own.call(...write(file, "x"));
    const asked = await person.question();
    expect(await person.ask("DELETE", `/v1/tokens/${own.id}`)).toMatchObject({ status: 204 });
    expect(await call).toMatchObject({ type: "error", code: "UNAUTHENTICATED" });
    expect(await person.decide(asked, { decision: "allow" })).toMatchObject({ status: 409 });
    await expect.poll(() => person.waiting()).toEqual([]);
    expect(existsSync(file)).toBe(false);
  });
});

it("tells a WebSocket caller what it waits for", async () => {
  const ai = await person.grant();
  using caller = await ai.open("matrx.v1");
  const file = fileIn(rig);
  caller.send({ id: "1", tool: "Write", input: { file_path: file, content: "x" } });
  const pending = await caller.frame("approval", ({ type }) => type === "approval");
  expect(pending).toMatchObject({ id: "1", state: "pending", summary: expect.stringContaining(file) });
  await person.decide(await person.question(), { decision: "allow" });
  expect(await caller.answer("1")).toMatchObject(DONE);
  expect((await caller.framesOf("1")).map(({ type }) => type)).toEqual([
    ...["accepted", "approval", "approval", "success"],
  ]);
});

describe("a command of the AI", () => {
  it("is shown with its folder and its sandbox, and runs there after the yes", NEEDS_SANDBOX, async () => {
    const ai = await person.grant();
    const file = fileIn(rig);
    const probe = [
      `echo written > ${file}`,
      `cat ${rig.dataDir}/agent/* ${homedir()}/.bashrc /etc/shadow && echo READ`,
      `(echo > /dev/tcp/127.0.0.1/${rig.relay.port}) && echo CONNECTED`,
      `ls -d /proc/${process.pid} /proc/${rig.agent.child.pid} && echo SEEN`,
      "echo the end",
    ].join("\n");
    const call = ai.call("Bash", { command: probe });
    const asked = await person.question();
    expect(asked.question.command).toMatchObject({
      text: probe,
      cwd: rig.folder,
      ...{ sandbox: true, readable: [rig.folder], writable: [rig.folder], network: [] },
    });
    await person.decide(asked, { decision: "allow" });
    const { output } = await call;
    expect(output).toContain("the end");
    for (const sign of [/^READ$/m, /^CONNECTED$/m, /^SEEN$/m]) expect(output).not.toMatch(sign);
    expect(linesOf(file)).toEqual(["written"]);
  });
});

describe("the owner changes their mind", { timeout: 60_000 }, () => {
  it("and an open connection obeys at once", async () => {
    const ai = await person.grant({ name: "narrowed", ask: [] });
    using caller = await ai.open();
    const file = fileIn(rig);
    expect(await caller.call("1", "Write", { file_path: file, content: "1" })).toMatchObject(DONE);
    const matrx = await person.commandLine();
    expect(await matrx("token", "change", "narrowed", "--effects", "read")).toMatchObject({ code: 0 });
    expect(await caller.call("2", "Write", { file_path: file, content: "2" })).toMatchObject(REFUSED);
    expect(await caller.call("3", "Read", { file_path: file })).toMatchObject(DONE);
    expect(readFileSync(file, "utf8")).toBe("1");
  });

  it(
    "about the whole machine, and what runs in the background by its old policy ends",
    NEEDS_SANDBOX,
    async () => {
      const ai = await person.grant({ effects: ["read", "write", "execute"], ask: [] });
      const file = fileIn(rig);
      const command = `echo begun > ${file}; sleep 300; echo late >> ${file}`;
      expect(await ai.call("Bash", { command, run_in_background: true })).toMatchObject(DONE);
      await expect.poll(() => existsSync(file)).toBe(true);
      const jobs = () => processesOf(rig.folder);
      await person.setPolicy({ denied_tools: ["Write"] });
      expect(await ai.call("Read", { file_path: file })).toMatchObject(DONE);
      expect(jobs()).not.toEqual([]);
      await person.setPolicy({ denied_paths: ["/srv/closed/**"] });
      await expect.poll(jobs, { timeout: 10_000 }).toEqual([]);
      await person.setPolicy({});
    },
  );

  it("and explanations agree with what happens", async () => {
    const ai = await person.grant({ effects: ["read", "write"], denied_paths: ["**/*.key"] });
    const [open, closed] = [fileIn(rig), join(rig.folder, "signing.key")];
    for (const file of [open, closed]) writeFileSync(file, "x");
    const path = `/v1/devices/${rig.device}/policy/explain`;
    const explain = async (tool: string, input: object) => {
      const own = await ai.ask("POST", path, { tool, input });
      const { body } = await person.ask("POST", path, { tool, input, grant: ai.id });
      expect(own.body.decision).toBe(body.decision);
      return body.decision;
    };
    // The device decides about paths: what the relay cannot know, it says.
    expect((await ai.ask("POST", path, { tool: "Read", input: { file_path: closed } })).body.notes).toEqual([
      expect.stringContaining("checks paths"),
    ]);
    expect(await ai.call("Read", { file_path: closed })).toMatchObject(REFUSED);
    const codes = { allowed: undefined, refused: "PERMISSION_DENIED", asked: "APPROVAL_DENIED" };
    for (const [tool, input] of [
      ["Read", { file_path: open }],
      ["Bash", { command: "true" }],
      ["Screenshot", {}],
      ["Write", { file_path: open, content: "y" }],
    ] as const) {
      const decision = await explain(tool, input);
      const call = ai.call(tool, input);
      const answer = await (decision === "asked" ? person.answer(call, { decision: "deny" }) : call);
      expect(answer.code, tool).toBe(codes[decision as keyof typeof codes]);
    }
  });

  it("and pauses the machine: what waits can't run either", async () => {
    const ai = await person.grant();
    const matrx = await person.commandLine();
    const file = fileIn(rig);
    const call = ai.call(...write(file, "x"));
    const asked = await person.question();
    const here = { home: agentFolder(rig.dataDir) };
    expect(await runMatrx(["pause", "--ai"], here)).toMatchObject({ code: 0 });
    try {
      const allowed = await matrx("approvals", "allow", asked.id);
      expect(allowed).toMatchObject({ code: 0 });
      const answer = await call;
      expect(answer).toMatchObject({ ...REFUSED, metadata: { reason: "PAUSED" } });
      expect(await ai.call("Read", { file_path: fileIn(rig) })).toMatchObject(REFUSED);
      expect(existsSync(file)).toBe(false);
    } finally {
      await runMatrx(["resume"], here);
    }
  });
});

it("is answered by the command line of a person who signed in", { timeout: 60_000 }, async () => {
  const ai = await person.grant();
  const matrx = await person.commandLine();
  const file = fileIn(rig);
  const call = ai.call(...write(file, "from afar"));
  const { id } = await person.question();
  const listed = await matrx("approvals");
  expect(listed).toMatchObject({ code: 0, json: { approvals: [{ id, by: "assistant" }] } });
  const shown = await matrx("approvals", "show", id);
  expect(shown).toMatchObject({
    json: { by: "assistant", question: { diff: expect.stringContaining("+from") } },
  });
  expect(await matrx("approvals", "allow", id)).toMatchObject({ code: 0 });
  expect(await call).toMatchObject(DONE);
  expect(readFileSync(file, "utf8")).toBe("from afar");
});
