/** Calls that only somebody at the machine may allow: no relay can make up that yes, and a local caller waits for it. */
import { makeCallId, makeGrantId } from "@matrx/shared/ids.ts";
import { expect, test } from "vitest";
import { LOCAL_OWNER } from "../../../agent/local/local-calls.ts";
import { asking } from "./asking.ts";

const policy = { ask: [{ tools: ["Bash"], at: "machine" as const }, { tools: ["Write"] }] };
const LOCAL = { grant: LOCAL_OWNER };
const COMMAND = { command: "echo done" };

test("the relay's yes is not enough: somebody here must have said it of exactly this call", async () => {
  const { bench, asked, run, machine } = await asking({ policy });
  const grant = bench.owner;
  const { call, at, approval, binding, question } = await asked("Bash", COMMAND, { grant });
  expect(at).toBe("machine");
  expect((await run("Bash", COMMAND, { grant, call, approval })).answer).toMatchObject({
    code: "APPROVAL_DENIED",
    hint: expect.stringContaining("matrx approvals --here"),
  });
  const [waiting] = machine.waiting();
  expect(waiting).toMatchObject({ call, binding, question });
  machine.decide(waiting?.id ?? "", { allow: true });
  expect((await run("Bash", COMMAND, { grant, approval })).answer).toMatchObject({ code: "APPROVAL_DENIED" });
  expect((await run("Bash", COMMAND, { grant, call, approval })).answer).toMatchObject({ output: "done\n" });
});

test("a no here stays a no, whatever the relay says later", async () => {
  const { bench, asked, run, machine } = await asking({ policy });
  const grant = bench.owner;
  const { call, approval } = await asked("Bash", COMMAND, { grant });
  const id = machine.waiting()[0]?.id ?? "";
  machine.decide(id, { allow: false, note: "not now" });
  expect(() => machine.decide(id, { allow: true })).toThrow(expect.objectContaining({ code: "CONFLICT" }));
  expect((await run("Bash", COMMAND, { grant, call, approval })).answer).toMatchObject({
    code: "APPROVAL_DENIED",
  });
});

test("a local caller waits for somebody here, and then gets the result", async () => {
  const { run, machine } = await asking({ policy });
  const running = run("Bash", COMMAND, LOCAL);
  await expect.poll(() => machine.waiting()).toHaveLength(1);
  const [waiting] = machine.waiting();
  expect(waiting?.question.command).toMatchObject({ text: "echo done", sandbox: false });
  machine.decide(waiting?.id ?? "", { allow: true });
  expect((await running).answer).toMatchObject({ type: "success", output: "done\n" });
});

test("a local caller is told that it was denied, and why", async () => {
  const { run, machine } = await asking({ policy });
  const running = run("Bash", COMMAND, LOCAL);
  await expect.poll(() => machine.waiting()).toHaveLength(1);
  machine.decide(machine.waiting()[0]?.id ?? "", { allow: false, note: "use make" });
  const { header, answer } = await running;
  expect(answer).toMatchObject({ code: "APPROVAL_DENIED", metadata: { note: "use make" } });
  expect(header.ran).toBe(false);
});

test("what changes while a local caller waits makes the yes void", async () => {
  const rules = { ask: [{ tools: ["Write"], at: "machine" as const }] };
  const { bench, run, machine } = await asking({ policy: rules });
  await bench.put("a.txt", "one\n");
  const running = run("Write", { file_path: bench.at("a.txt"), content: "two\n" }, LOCAL);
  await expect.poll(() => machine.waiting()).toHaveLength(1);
  await bench.put("a.txt", "three\n");
  machine.decide(machine.waiting()[0]?.id ?? "", { allow: true });
  expect((await running).answer).toMatchObject({
    code: "CONFLICT",
    metadata: { changed: [bench.at("a.txt")] },
  });
});

test("a policy that is narrowed while a local caller waits ends the call, which began under wider limits", async () => {
  const { run, machine, dispatcher } = await asking({ policy });
  const running = run("Bash", COMMAND, LOCAL);
  await expect.poll(() => machine.waiting()).toHaveLength(1);
  dispatcher.stopUnbegun();
  const { header, answer } = await running;
  expect(answer).toMatchObject({ code: "CONFLICT", hint: "Make the call again" });
  expect(header.ran).toBe(false);
  expect(machine.waiting()).toEqual([]);
});

test("a question here expires, and goes with its call or its grant", async () => {
  const short = await asking({ policy, keptMs: 50 });
  expect((await short.run("Bash", COMMAND, LOCAL)).answer).toMatchObject({ code: "APPROVAL_EXPIRED" });
  expect(short.machine.waiting()).toEqual([]);

  const { run, asked, machine, dispatcher, bench } = await asking({ policy });
  const call = makeCallId();
  const running = run("Bash", COMMAND, { ...LOCAL, call });
  await expect.poll(() => machine.waiting()).toHaveLength(1);
  dispatcher.cancel(call);
  expect((await running).answer).toMatchObject({ code: "CANCELLED" });
  const grant = { ...bench.owner, id: makeGrantId() };
  const remote = await asked("Bash", COMMAND, { grant });
  const other = await asked("Bash", COMMAND, { grant });
  dispatcher.cancel(remote.call);
  expect(machine.waiting().map((waiting) => waiting.call)).toEqual([other.call]);
  machine.endGrant(grant.id);
  expect(machine.waiting()).toEqual([]);
});

test("where nobody can be asked, a local caller is told what would help", async () => {
  const { bench, run, journal } = await asking({ policy });
  const call = makeCallId();
  const input = { file_path: bench.at("a.txt"), content: "a" };
  const { answer } = await run("Write", input, { ...LOCAL, call });
  expect(answer).toMatchObject({ code: "APPROVAL_DENIED", hint: expect.stringContaining('"at": "machine"') });
  expect(journal.find(call)).toBeUndefined();
});
