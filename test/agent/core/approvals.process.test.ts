/** Approvals on the agent: a yes is for exactly one thing, and whatever changes after it makes it void. */
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeCallId, makeGrantId, makeSessionId } from "@matrx/shared/ids.ts";
import { expect, test } from "vitest";
import { NEEDS_SANDBOX } from "../sandbox/needs-sandbox.ts";
import { asking } from "./asking.ts";

const CHANGED = { code: "CONFLICT", metadata: { reason: "changed_since_approved" } };

test("a call that is asked about runs with a yes for exactly this, and not without", async () => {
  const { bench, asked, run, journal } = await asking();
  const input = { file_path: "notes.txt", content: "new\n" };
  const { call, approval, at } = await asked("Write", input);
  expect(at).toBeUndefined();
  const refused = await run("Write", input, { call });
  // Nobody denied it: its relay did not know yet that somebody must be asked.
  const hint = expect.stringMatching(/^Send it again: then the owner is asked/);
  expect(refused.answer).toMatchObject({ type: "error", code: "UNAVAILABLE", hint });
  expect(refused.header.ran).toBe(false);
  expect(journal.find(call)).toBeUndefined();
  await expect(bench.call("Read", { file_path: "notes.txt" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect((await run("Write", input, { call, approval })).answer).toMatchObject({ type: "success" });
  expect((await bench.call("Read", { file_path: "notes.txt" })).output).toContain("new");
});

test("reads are not asked about, and an owner only by a policy", async () => {
  const policy = { ask: [{ tools: ["Delete"] }] };
  const { bench, prepare } = await asking({ policy });
  await bench.put("a.txt", "a");
  const owner = { grant: bench.owner };
  expect(await prepare("Read", { file_path: "a.txt" })).toEqual({ ask: false });
  expect(await prepare("Write", { file_path: "a.txt", content: "b" }, owner)).toEqual({ ask: false });
  expect(await prepare("Delete", { path: "a.txt" }, owner)).toMatchObject({ ask: true });
});

test("a call that would fail or is not allowed is answered before anybody is asked", async () => {
  const { bench, prepare } = await asking();
  await bench.put("a.txt", "one\n");
  const missing = { file_path: "a.txt", old_string: "two", new_string: "three" };
  expect(await prepare("Edit", missing)).toMatchObject({ code: "TOOL_EXECUTION_FAILED" });
  expect(await prepare("Write", { file_path: "/etc/hosts", content: "" })).toMatchObject({
    code: "PERMISSION_DENIED",
  });
  expect(await prepare("Write", { file: "a.txt" })).toMatchObject({ code: "INVALID_PARAMETERS" });
  expect(await prepare("Nothing", {})).toMatchObject({ code: "TOOL_NOT_FOUND" });
});

test("rules match the resolved path, the command and the address", async () => {
  const policy = { ask: [{ match: "*/work/*" }, { match: "rm *" }, { match: "*.example/*" }] };
  const { bench, prepare } = await asking({ policy });
  await bench.put("work/a.txt", "a");
  await symlink(bench.at("work"), bench.at("link"));
  const asks = async (tool: string, input: Record<string, unknown>) => {
    const prepared = await prepare(tool, input, { grant: bench.owner });
    return "ask" in prepared && prepared.ask;
  };
  expect(await asks("Read", { file_path: "link/a.txt" })).toBe(true);
  expect(await asks("Read", { file_path: "other.txt" })).toBe(false);
  expect(await asks("Bash", { command: "rm -r x" })).toBe(true);
  expect(await asks("Bash", { command: "ls" })).toBe(false);
  expect(await asks("Bash", { command: "cd . && sudo /bin/rm -r x" })).toBe(true);
  expect(await asks("Bash", { command: "cd . && $X" })).toBe(true);
  expect(await asks("Bash", { command: "echo 'rm -r x'; ls $X" })).toBe(false);
  expect(await asks("OpenUrl", { url: "https://a.example/x" })).toBe(true);
});

test("what is done to a folder as a whole is asked about by rules for what is in it", async () => {
  const { bench, prepare } = await asking({ policy: { ask: [{ match: "*/keys/*.pem" }] } });
  for (const name of ["app/keys/a.pem", "other/keys/a.txt", "loose/b.pem"]) await bench.put(name, "a");
  await symlink(bench.at("app"), bench.at("link"));
  await mkdir(bench.at("empty"));
  const asks = async (tool: string, input: Record<string, unknown>) => {
    const prepared = await prepare(tool, input, { grant: bench.owner });
    return "ask" in prepared && prepared.ask;
  };
  expect(await asks("Move", { source: "app", destination: "moved" })).toBe(true);
  expect(await asks("Move", { source: "loose", destination: "empty/keys" })).toBe(true);
  expect(await asks("Move", { source: "loose", destination: "keys/" })).toBe(true);
  expect(await asks("Delete", { path: "app", recursive: true })).toBe(true);
  expect(await asks("delete_directory", { path: "app", recursive: true })).toBe(true);
  expect(await asks("Grep", { pattern: "a", path: "link" })).toBe(true);
  expect(await asks("Download", { path: "." })).toBe(true);
  expect(await asks("Move", { source: "other", destination: "moved" })).toBe(false);
  expect(await asks("Move", { source: "link", destination: "elsewhere" })).toBe(false);
  expect(await asks("Delete", { path: "loose", recursive: true })).toBe(false);
  expect(await asks("Grep", { pattern: "a", path: "other" })).toBe(false);
  expect(await asks("ListDirectory", { path: "app" })).toBe(false);
});

test("a rule about a tool asks about whatever else does the same", async () => {
  const policy = {
    ask: [
      { tools: ["Delete"], match: "*.ts" },
      { tools: ["Bash"], match: "rm *" },
    ],
  };
  const { bench, prepare } = await asking({ policy });
  for (const name of ["a.ts", "b.md"]) await bench.put(name, "a\n");
  const asks = async (tool: string, input: Record<string, unknown>) => {
    const prepared = await prepare(tool, input, { grant: bench.owner });
    return "ask" in prepared && prepared.ask;
  };
  const patch = (line: string) => ({ patch: `*** Begin Patch\n${line}\n*** End Patch\n` });
  expect(await asks("ApplyPatch", patch("*** Delete File: a.ts"))).toBe(true);
  expect(await asks("ApplyPatch", patch("*** Delete File: b.md"))).toBe(false);
  expect(await asks("ApplyPatch", patch("*** Add File: c.ts\n+x"))).toBe(false);
  // Nobody can tell what will be typed.
  expect(await asks("TerminalCreate", {})).toBe(true);
  const { metadata } = await bench.call("TerminalCreate", { shell: "/bin/bash" });
  const { terminal } = metadata ?? {};
  expect(await asks("TerminalInput", { terminal, text: "ls\n" })).toBe(true);
  // Nor what its shell makes of a line.
  expect(await asks("TerminalExecute", { terminal, command: "rm -r x" })).toBe(true);
  expect(await asks("TerminalExecute", { terminal, command: "ls" })).toBe(true);
  expect(await asks("TerminalList", {})).toBe(false);
});

test("a patch tool that is never asked about is asked about as soon as a patch deletes", async () => {
  const { bench, ai, prepare } = await asking();
  const grant = { ...ai, ask: [{ effects: ["write", "execute"], except: ["ApplyPatch"] }] } as GrantScope;
  await bench.put("a.txt", "a\n");
  const patch = (...lines: string[]) => ({
    patch: ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n"),
  });
  expect(await prepare("ApplyPatch", patch("*** Update File: a.txt", "-a", "+b"), { grant })).toEqual({
    ask: false,
  });
  for (const lines of [
    ["*** Delete File: a.txt"],
    ["*** Update File: a.txt", "*** Move to: b.txt", "-a", "+b"],
    ["*** Add File: c.txt", "+c", "*** Delete File: a.txt"],
  ])
    expect(await prepare("ApplyPatch", patch(...lines), { grant })).toMatchObject({
      ask: true,
      question: { also: ["Delete"] },
    });
});

test("a file that was changed after the yes stays as it is", async () => {
  const { bench, asked, run, journal } = await asking();
  for (const [tool, input] of [
    ["Write", { file_path: "a.txt", content: "two\n" }],
    ["Edit", { file_path: "a.txt", old_string: "o", new_string: "u" }],
    ["Move", { source: "a.txt", destination: "b.txt" }],
    ["Delete", { path: "a.txt", permanent: true }],
    ["ApplyPatch", { patch: "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n" }],
  ] as const) {
    const file = await bench.put("a.txt", "one\n");
    const { call, approval } = await asked(tool, input);
    await writeFile(file, `${tool} one more\n`);
    const { answer } = await run(tool, input, { call, approval });
    expect(answer).toMatchObject(CHANGED);
    expect(answer.type === "error" && JSON.stringify(answer.metadata)).toContain(file);
    expect(journal.find(call)).toBeUndefined();
    expect((await bench.call("Read", { file_path: "a.txt" })).output).toContain(`${tool} one more`);
  }
});

test("what was put where a new file was to be is not replaced", async () => {
  const { bench, asked, run } = await asking();
  const input = { file_path: "new.txt", content: "x" };
  const { call, approval } = await asked("Write", input);
  await bench.put("new.txt", "somebody's");
  expect((await run("Write", input, { call, approval })).answer).toMatchObject(CHANGED);
  expect((await bench.call("Read", { file_path: "new.txt" })).output).toContain("somebody's");
});

test("a link that leads elsewhere after the yes is not followed", async () => {
  const { bench, asked, run, question } = await asking();
  await bench.put("harmless/a.txt", "a\n");
  await bench.put("precious/a.txt", "a\n");
  await symlink(bench.at("harmless"), bench.at("folder"));
  const input = { file_path: "folder/a.txt", content: "b\n" };
  expect(await question("Write", input)).toMatchObject({
    paths: [{ path: bench.at("harmless", "a.txt"), intent: "change" }],
    warnings: [`${bench.at("folder", "a.txt")} leads to ${bench.at("harmless", "a.txt")}`],
  });
  const { call, approval } = await asked("Write", input);
  await rm(bench.at("folder"));
  await symlink(bench.at("precious"), bench.at("folder"));
  expect((await run("Write", input, { call, approval })).answer).toMatchObject(CHANGED);
  expect((await bench.call("Read", { file_path: "precious/a.txt" })).output).toContain("a");
});

test("what was put into a folder after the yes to delete it is not deleted", async () => {
  const { bench, asked, run } = await asking();
  await bench.put("old/a.txt", "a");
  const input = { path: "old", recursive: true };
  const { call, approval, question } = await asked("Delete", input);
  expect(question).toMatchObject({
    summary: `Delete ${bench.at("old")} by moving it to the trash: a folder with 1 file and 0 folders, 1 byte`,
    warnings: ["In it: a.txt"],
  });
  await bench.put("old/thesis.txt", "years of work");
  const { answer } = await run("Delete", input, { call, approval });
  expect(answer).toMatchObject(CHANGED);
  expect((await bench.call("Read", { file_path: "old/thesis.txt" })).output).toContain("years");
});

test("a folder with the same name is not the folder that may be moved", async () => {
  const { bench, asked, run } = await asking();
  await mkdir(bench.at("one"));
  const input = { source: "one", destination: "two" };
  const { call, approval } = await asked("Move", input);
  await rename(bench.at("one"), bench.at("kept"));
  await mkdir(bench.at("one"));
  expect((await run("Move", input, { call, approval })).answer).toMatchObject(CHANGED);
});

test(
  "a yes is for one working directory, one session, one grant, one input and the limits of that time",
  NEEDS_SANDBOX,
  async () => {
    const { bench, asked, run, dispatcher, ai, session } = await asking();
    await mkdir(bench.at("elsewhere"));
    const input = { command: "rm -rf build" };
    const { call, approval } = await asked("Bash", input);
    const attempt = async (options: Parameters<typeof run>[2], other: Record<string, unknown> = input) =>
      (await run("Bash", other, { call: options?.call ?? makeCallId(), approval, ...options })).answer;
    expect(await attempt({ session: makeSessionId() })).toMatchObject(CHANGED);
    expect(await attempt({ grant: { ...ai, id: makeGrantId() } })).toMatchObject(CHANGED);
    expect(await attempt({ call }, { command: "rm -rf ." })).toMatchObject({
      metadata: { changed: ["the call itself"] },
    });
    const narrower = { call, grant: { ...ai, paths: [bench.at("elsewhere")] } };
    expect(await attempt(narrower)).toMatchObject({
      metadata: { changed: ["the sandbox", "what the grant and the policies allow"] },
    });
    expect(await attempt({ call, relayPolicy: { denied_paths: ["/secret"] } })).toMatchObject(CHANGED);
    bench.sessions.open(session, ai).cwd = bench.at("elsewhere");
    expect(await attempt({ call })).toMatchObject({ metadata: { changed: ["the working directory"] } });
    expect(dispatcher.runningCalls).toBe(0);
  },
);

test(
  "a session that two grants name is two sessions: neither's directory counts for the other",
  NEEDS_SANDBOX,
  async () => {
    const { bench, asked, ai, session } = await asking();
    await bench.put("work/a.txt", "a");
    bench.sessions.open(session, { id: makeGrantId() }).cwd = bench.at("work");
    expect((await asked("Bash", { command: "ls" })).question.command?.cwd).toBe(bench.home);
    bench.sessions.open(session, ai).cwd = bench.at("work");
    expect((await asked("Bash", { command: "ls" })).question.command?.cwd).toBe(bench.at("work"));
  },
);

test("without a session, the same call prepared and run is the same call", async () => {
  const { ai, asked, dispatcher, bench } = await asking();
  const input = { file_path: "a.txt", content: "a" };
  const { call, approval, binding } = await asked("Write", input, { session: undefined as never });
  expect((await asked("Write", input, { session: undefined as never })).binding).toBe(binding);
  await dispatcher.run({ call, tool: "Write", input, grant: ai, approval });
  expect((await bench.call("Read", { file_path: "a.txt" })).output).toContain("a");
});

test("an approval's id says nothing: only what it was given for counts", async () => {
  const { bench, asked, run } = await asking();
  const { approval } = await asked("Write", { file_path: "a.txt", content: "harmless" });
  const harmful = { file_path: "a.txt", content: "harmful" };
  const second = await asked("Write", harmful);
  const replayed = await run("Write", harmful, { call: second.call, approval });
  expect(replayed.answer).toMatchObject(CHANGED);
  await expect(bench.call("Read", { file_path: "a.txt" })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a yes that came with a call counts although nobody needs to be asked any more", async () => {
  const { bench, asked, run, ai } = await asking();
  const file = await bench.put("a.txt", "one");
  const input = { file_path: "a.txt", content: "two" };
  const { call, approval } = await asked("Write", input);
  await writeFile(file, "three");
  const grant = { ...ai, ask: [{ effects: ["write" as const], except: ["Write"] }] };
  expect((await run("Write", input, { call, approval, grant })).answer).toMatchObject(CHANGED);
});

test(
  "preparing is not counted as a call, and a call that is prepared again is prepared once",
  NEEDS_SANDBOX,
  async () => {
    const { prepare, run, asked } = await asking({ policy: { rates: { calls_per_minute: 1 } } });
    const input = { command: "true" };
    for (let times = 0; times < 5; times++) await prepare("Bash", input);
    const { call } = await asked("Bash", input);
    const [first, second] = await Promise.allSettled([
      prepare("Bash", input, { call }),
      prepare("Bash", input, { call }),
    ]);
    expect(first).toMatchObject({ reason: { message: "it is prepared again" } });
    expect(second).toMatchObject({ value: { ask: true } });
    expect((await run("Bash", input)).answer).toMatchObject({ code: "UNAVAILABLE" });
    expect((await run("Bash", input)).answer).toMatchObject({ code: "RATE_LIMITED" });
  },
);
