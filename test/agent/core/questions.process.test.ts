/** What a person sees of each tool's call before it runs: exact, bounded, and without tricks of the text. */
import { symlink, truncate } from "node:fs/promises";
import { hostname } from "node:os";
import { LIMITS } from "@matrx/shared/limits.ts";
import type { Question } from "@matrx/shared/question.ts";
import { expect, test } from "vitest";
import { addressWarnings } from "../../../agent/core/suspicious-text.ts";
import { NEEDS_SANDBOX } from "../sandbox/needs-sandbox.ts";
import { asking } from "./asking.ts";

const patch = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");
const sizeOf = (question: Question) => Buffer.byteLength(JSON.stringify(question));

test("Write shows what a file gets, and what it loses", async () => {
  const { bench, question } = await asking();
  const file = await bench.put("a.txt", "one\ntwo\nthree\n");
  expect(await question("Write", { file_path: "a.txt", content: "one\n2\nthree" })).toEqual({
    summary: `Change ${file}: 2 lines added, 2 removed (11 bytes)`,
    tool: "Write",
    effect: "write",
    paths: [{ path: file, intent: "change" }],
    diff: `--- ${file}\n+++ ${file}\n@@ -1,3 +1,3 @@\n one\n-two\n-three\n+2\n+three\n\\ No newline at end of file`,
    input: '{"content":"one\\n2\\nthree","file_path":"a.txt"}',
    warnings: [],
  });
  const created = bench.at("new", "b.txt");
  expect(await question("Write", { file_path: "new/b.txt", content: "b\n" })).toMatchObject({
    summary: `Create ${created}: 1 line added, 0 removed (2 bytes)`,
    paths: [{ path: created, intent: "create" }],
    diff: `--- /dev/null\n+++ ${created}\n@@ -0,0 +1,1 @@\n+b`,
  });
});

test("Write says when the old content cannot be shown", async () => {
  const { bench, question } = await asking();
  await bench.put("picture", Buffer.from("89504e470d0a1a0a0000", "hex"));
  const binary = await question("Write", { file_path: "picture", content: "text\n" });
  expect(binary.diff).toContain("[The old content is not text, or too large to be compared");
  expect(binary.diff).toContain("+text");
  await truncate(await bench.put("large", "x"), 3 * 1024 * 1024);
  const large = await question("Write", { file_path: "large", content: "text\n" });
  expect(large.diff).toContain("too large to be compared");
});

test("Edit shows a diff", async () => {
  const { bench, question } = await asking();
  const file = await bench.put("a.txt", "one\r\ntwo\r\n");
  const input = { file_path: "a.txt", old_string: "two", new_string: "2" };
  expect(await question("Edit", input)).toMatchObject({
    summary: `Edit ${file}: 1 line added, 1 removed`,
    diff: `--- ${file}\n+++ ${file}\n@@ -1,2 +1,2 @@\n one\n-two\n+2`,
  });
});

test("ApplyPatch shows every file that it creates, changes, moves and deletes", async () => {
  const { bench, question } = await asking();
  await bench.put("changed", "a\n");
  await bench.put("moved", "m\n");
  await bench.put("gone", "g\n");
  const lines = [
    ...["*** Add File: new", "+n", "*** Update File: changed", "@@", "-a", "+b"],
    ...["*** Update File: moved", "*** Move to: there", "@@", "-m", "+n", "*** Delete File: gone"],
  ];
  const { summary, diff, paths } = await question("ApplyPatch", { patch: patch(...lines) });
  expect(summary).toBe("Patch 4 files: 1 created, 2 changed, 1 deleted");
  expect(diff?.replaceAll(`${bench.home}/`, "")).toBe(
    [
      ...["--- /dev/null", "+++ new", "@@ -0,0 +1,1 @@", "+n"],
      ...["--- changed", "+++ changed", "@@ -1,1 +1,1 @@", "-a", "+b"],
      ...["rename from moved", "rename to there", "--- moved", "+++ there", "@@ -1,1 +1,1 @@", "-m", "+n"],
      ...["--- gone", "+++ /dev/null", "@@ -1,1 +0,0 @@", "-g"],
    ].join("\n"),
  );
  expect(paths?.map(({ intent }) => intent)).toEqual(["create", "change", "remove", "create", "remove"]);
});

test("Move shows the content that a replaced file loses", async () => {
  const { bench, question } = await asking();
  await bench.put("a", "new\n");
  const to = await bench.put("b", "old\n");
  const plain = await question("Move", { source: "a", destination: "c" });
  expect(plain).toMatchObject({ summary: `Move ${bench.at("a")} to ${bench.at("c")}`, warnings: [] });
  const replacing = await question("Move", { source: "a", destination: "b", overwrite: true });
  expect(replacing).toMatchObject({
    diff: `--- ${to}\n+++ ${to}\n@@ -1,1 +1,1 @@\n-old\n+new`,
    warnings: [`${to} is replaced, and not put into the trash`],
  });
});

test("Delete says for good or not, and how much; a link is not its target", async () => {
  const { bench, question } = await asking();
  const file = await bench.put("a.txt", "12345");
  await symlink(file, bench.at("link"));
  const summary = async (input: Record<string, unknown>) => (await question("Delete", input)).summary;
  expect(await summary({ path: "a.txt" })).toBe(`Delete ${file} by moving it to the trash (5 bytes)`);
  expect(await summary({ path: "link", permanent: true })).toBe(
    `Delete ${bench.at("link")} for good (a symlink, not its target)`,
  );
});

test("Bash shows the command, where it runs, and what its sandbox reaches", NEEDS_SANDBOX, async () => {
  const { bench, question, ai } = await asking();
  const [work, papers] = [bench.at("work"), bench.at("papers")];
  await bench.put("work/a.txt", "a");
  await bench.put("papers/b.txt", "b");
  const grant = { ...ai, paths: [work, papers], denied_paths: [papers] };
  expect(await question("Bash", { command: "make\nmake test" }, { grant })).toMatchObject({
    summary: `Run in ${work}: make\\nmake test`,
    command: {
      ...{ text: "make\nmake test", cwd: work, sandbox: true },
      ...{ readable: [work], writable: [work], network: [] },
    },
  });
  const reading = { ...grant, effects: ["read" as const, "execute" as const] };
  expect((await question("Bash", { command: "ls" }, { grant: reading })).command).toMatchObject({
    ...{ readable: [work], writable: [] },
  });
  const free = { grant: bench.owner, relayPolicy: { ask: [{ tools: ["Bash"] }] } };
  expect((await question("Bash", { command: "ls" }, free)).command).toEqual({
    ...{ text: "ls", cwd: bench.home, sandbox: false },
  });
  const stdin = { command: "sh", stdin_base64: Buffer.from("rm -rf ~").toString("base64") };
  expect((await question("Bash", stdin)).warnings).toEqual(["It reads 8 bytes from stdin: rm -rf ~"]);
});

test("TaskStop and StopProcess show which command would be stopped", async () => {
  const { bench, ai, asked } = await asking();
  const owner = { ...ai, owner: true, paths: undefined };
  const { metadata } = await bench.call(
    "Bash",
    { command: "sleep 60", run_in_background: true },
    { grant: owner },
  );
  const job = String(metadata?.bash_id);
  const grant = { ...owner, owner: false };
  const { question } = await asked("TaskStop", { task_id: job }, { grant });
  expect(question.summary).toMatch(new RegExp(`^Stop the command ${job}, started .* in .*: sleep 60$`));
});

test("OpenUrl warns of the relay's own pages, of links that sign in, and of disguised hosts", async () => {
  const { question } = await asking({ relay: "https://relay.example" });
  const warnings = async (url: string) => (await question("OpenUrl", { url })).warnings.join("; ");
  expect(await warnings("https://news.example/today")).toBe("");
  expect(await warnings("https://relay.example/v1/tokens")).toContain("relay's own pages");
  expect(await warnings("https://relay.example/#pair=ABCD-EFGH")).toContain("pair a device");
  expect(await warnings("http://127.0.0.1:8787/#claim=abc")).toContain("this machine itself");
  expect(await warnings("https://relay.example@evil.example/")).toContain("leads to evil.example");
  const disguised = await question("OpenUrl", { url: "https://\u0440\u0430ypal.example/" });
  expect(disguised).toMatchObject({ url: "https://xn--ypal-43d9g.example/" });
  expect(disguised.warnings.join()).toContain("xn--");
});

test("a relay on this machine is known by any of the machine's names", async () => {
  const { question } = await asking({ relay: "http://localhost:8787" });
  const { warnings } = await question("OpenUrl", { url: "http://127.0.0.1:8787/" });
  expect(warnings.join()).toContain("relay's own pages");
});

test("an application is shown with its arguments", async () => {
  const { bench, question } = await asking();
  const options = { grant: { ...bench.owner, owner: true }, relayPolicy: { ask: [{ tools: ["open_app"] }] } };
  expect(await question("open_app", { app: "paint", args: ["a b.png", "--x"] }, options)).toMatchObject({
    summary: 'Start paint "a b.png" "--x"',
    app: 'paint "a b.png" "--x"',
  });
});

test("hidden characters are written out, wherever they are", NEEDS_SANDBOX, async () => {
  const { bench, question } = await asking();
  await bench.put("a.txt", "x\n");
  const command = "echo \u202Egnp.exe\u202C \u001B[2J\r# harmless\u200B";
  const asked = await question("Bash", { command });
  expect(asked.command?.text).toBe("echo \\u{202E}gnp.exe\\u{202C} \\u{1B}[2J\\u{D}# harmless\\u{200B}");
  expect(asked.warnings).toEqual(["It contains hidden characters, written out here such as \\u{202E}"]);
  const edit = { file_path: "a.txt", old_string: "x", new_string: "if (admin\u2066) {" };
  expect((await question("Edit", edit)).diff).toContain("+if (admin\\u{2066}) {");
  const named = await question("Write", { file_path: "b\u202Etxt.sh", content: "" });
  expect(named.paths?.[0]?.path).toBe(bench.at("b\\u{202E}txt.sh"));
  expect(JSON.stringify(named)).not.toContain("\u202E");
});

test("letters that only look alike are pointed out", NEEDS_SANDBOX, async () => {
  const { question } = await asking();
  const { warnings } = await question("Bash", { command: "rm -rf /home/\u0430nn/caf\u00e9" });
  expect(warnings).toEqual(['The word "\u0430nn" mixes Latin and Cyrillic letters: \\u{430}nn']);
  expect((await question("Bash", { command: "echo Привет мир" })).warnings).toEqual([]);
});

test("a command of a mebibyte is shown in part, and that is said first", NEEDS_SANDBOX, async () => {
  const { question } = await asking();
  const command = `echo ${'\u202E"'.repeat(512 * 1024)}; rm -rf ~`;
  const asked = await question("Bash", { command });
  expect(asked.command?.text).toContain("[... not all of it is shown ...]");
  expect(asked.command?.text).toMatch(/; rm -rf ~$/);
  expect(asked.warnings[0]).toMatch(/^The command has \d+ characters, and its middle is not shown/);
  expect(asked).toMatchObject({ input_cut: true });
  expect(asked.summary.length).toBeLessThanOrEqual(300);
});

test("what a shell reads from stdin is counted where it is not shown", async () => {
  const { question } = await asking();
  const warningOf = async (script: string) => {
    const stdin_base64 = Buffer.from(script).toString("base64");
    return (await question("Bash", { command: "bash -s", stdin_base64 })).warnings.join("\n");
  };
  for (const line of ["echo all is well\n", "\u202E\n", "é\n", "\n"]) {
    const script = `${line.repeat(3072 / Buffer.byteLength(line))}`;
    const warning = await warningOf(`${script}rm -rf ~`);
    const [, bytes, hidden] =
      /reads (\d+) bytes from stdin, of which the last (\d+) bytes are not/.exec(warning) ?? [];
    expect(Number(bytes)).toBe(Buffer.byteLength(script) + 8);
    expect(Number(hidden)).toBeGreaterThan(2500);
    expect(warning).not.toContain("…");
  }
});

test("what hides the end of a command is pointed out", async () => {
  const { question } = await asking();
  const asked = async (command: string) => await question("Bash", { command });
  expect((await asked(`ls${"\n".repeat(400)}; id`)).warnings).toEqual([
    "It goes on after 399 empty lines: look for its end",
  ]);
  expect((await asked(`ls${" ".repeat(4000)}; id`)).warnings).toEqual([
    "It goes on after 4000 spaces: look for its end",
  ]);
  for (const filling of ["\u2800".repeat(400), "\u0301".repeat(500), "\u{1D159}".repeat(99)]) {
    const { command, warnings } = await asked(`ls e${filling}; id`);
    expect(command?.text).toContain("\\u{");
    expect(warnings.join()).toContain("hidden characters");
  }
  for (const usual of [
    "ls\n\n\nid",
    `if true; then\n${" ".repeat(40)}id\nfi`,
    "echo ấ ё́ हिन्दी ไม้ שָׁלוֹם",
    `ls${"\n".repeat(400)}`,
  ])
    expect((await asked(usual)).warnings).toEqual([]);
});

test.each([
  "http://[::ffff:127.0.0.1]/",
  "http://localhost./",
  "http://LOCALHOST/",
  "http://a.localhost./",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://127.0.0.1./",
  "http://[::1]/",
  "http://[::]/",
  "http://0/",
  "http://ip6-localhost/",
  "http://localhost\u3002/",
  `http://${hostname()}/`,
])("an address at this machine, written as %s, is pointed out", (address) => {
  expect(addressWarnings(address, undefined)).toEqual(["It leads to a program on this machine itself"]);
});

test("the relay's own pages are known by any spelling, others are not", () => {
  const relay = "http://127.0.0.1:8787";
  const own = ["It leads to the relay's own pages, where you are signed in"];
  expect(addressWarnings("http://localhost.:8787/x", relay)).toEqual(own);
  expect(addressWarnings("http://[::ffff:127.0.0.1]:8787/", relay)).toEqual(own);
  expect(addressWarnings("https://relay.example./", "https://relay.example")).toEqual(own);
  for (const other of ["https://example.org/", "https://localhost.example.org/", "http://[2606:4700::1111]/"])
    expect(addressWarnings(other, relay)).toEqual([]);
});

test("a command for a terminal in the sandbox is shown with what it reaches", NEEDS_SANDBOX, async () => {
  const { bench, ai, question } = await asking();
  const execute = () => question("TerminalExecute", { command: "id" });
  const command = { ...(await question("Bash", { command: "id" })).command };
  expect(command).toMatchObject({ text: "id", sandbox: true, readable: [bench.home], network: [] });
  expect(await execute()).toMatchObject({ summary: "Run in a new terminal: id", command });
  const { metadata } = await bench.call("TerminalExecute", { command: "true" }, { grant: ai });
  const terminal = metadata?.terminal;
  expect(await question("TerminalExecute", { command: "id", terminal })).toMatchObject({ command });
  const free = { grant: bench.owner, relayPolicy: { ask: [{ tools: ["Bash"] }] } };
  expect((await question("TerminalExecute", { command: "id" }, free)).command?.sandbox).toBe(false);
  const { summary } = await question("TerminalInput", { terminal, text: "ls\n" });
  expect(summary).toMatch(
    new RegExp(`^Type into the terminal ${terminal}, (?:at the prompt of|opened with) /\\S*bash: "ls`),
  );
  expect(summary).not.toMatch(/ --|rcfile|bwrap/);
});

test("whatever it asks, a question fits into a frame", async () => {
  const { bench, question } = await asking();
  const names = Array.from({ length: 200 }, (_, index) => `${"\u202E".repeat(60)}${index}`);
  const lines = names.flatMap((name) => [`*** Add File: ${name}`, `+${'\u202E"'.repeat(5000)}`]);
  const asked = await question("ApplyPatch", { patch: patch(...lines) });
  expect(asked.diff_cut).toBe(true);
  expect(asked.warnings.join()).toMatch(/\d+ more paths are not listed/);
  expect(sizeOf(asked)).toBeLessThan(LIMITS.deviceFrameBytes - 1024);
  await bench.put("a.txt", "");
  const write = await question("Write", { file_path: "a.txt", content: '\u0000"'.repeat(1024 * 1024) });
  expect(sizeOf(write)).toBeLessThan(LIMITS.deviceFrameBytes - 1024);
});
