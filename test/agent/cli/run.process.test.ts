/** `matrx run` in a process of its own, on a real relay and a real agent. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandLine, readWords } from "../../../agent/cli/commands/run.ts";
import { MATRX_BIN } from "../../../scripts/matrx-bin.ts";
import { isAlive } from "../../../scripts/start/process.ts";
import { fileIn, type Rig, startRig } from "../../e2e/rig.ts";
import { type Desk, openDesk } from "./desk.ts";
import { endOf, startMatrx } from "./matrx.ts";

let rig: Rig;
let desk: Desk;
beforeAll(async () => {
  rig = await startRig();
  desk = openDesk(rig);
});
afterAll(async () => {
  desk?.close();
  await rig?.stop();
});

const run = (argv: readonly string[], stdin?: string | Uint8Array) =>
  desk.matrx(["run", rig.device, "--", ...argv], stdin);

/** Starts it; its lines come as they are printed. */
function begin(argv: readonly string[]) {
  const { home, env } = desk;
  const child = startMatrx(["run", ...argv], { home, env });
  child.stdin?.end();
  const ended = endOf(child);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value as string;
  return { child, ended, next };
}

test("each argument arrives as one, whatever is in it", async () => {
  const words = [
    "a b",
    "it's",
    "",
    "*",
    "$HOME",
    "`id`",
    "x=y",
    "-n",
    "--",
    "--json",
    "caf\u00e9 \u2603",
    "two\nlines",
    "\\",
  ];
  const { code, stdout, stderr } = await run(["printf", "[%s]", ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toBe(words.map((word) => `[${word}]`).join(""));
});

test("the only device need not be named, and a program may be named like a word of the shell", async () => {
  const { code, stdout } = await desk.matrx(["run", "--", "if"]);
  expect([code, stdout]).toEqual([127, expect.stringContaining("if: command not found")]);
});

test("bytes go in and come out as they are, and the exit code is the program's", {
  timeout: 60_000,
}, async () => {
  const bytes = Buffer.from(Array.from({ length: 1_500_000 }, (_, i) => (i * 13 + (i >> 8)) % 256));
  const copied = await run(["sh", "-c", "cat; exit 9"], bytes);
  expect(copied.code).toBe(9);
  expect(copied.bytes.equals(bytes)).toBe(true);
  expect(await run(["cat"])).toMatchObject({ code: 0, stdout: "" });
  const unread = await desk.matrx(["run", "-n", rig.device, "--", "cat"], "never read");
  expect(unread).toMatchObject({ code: 0, stdout: "" });
});

test("what is wrong on our side ends with 255, as ssh does, and runs nothing", {
  timeout: 60_000,
}, async () => {
  const file = fileIn(rig);
  const large = await run(["touch", file], Buffer.alloc(2 * 1024 * 1024 + 1));
  expect(large).toMatchObject({ code: 255, stdout: "", stderr: expect.stringContaining("nothing was run") });
  expect(existsSync(file)).toBe(false);
  for (const args of [
    ["run"],
    ["run", "nobody", "--", "ls"],
    ["run", rig.device, "--json", "--", "ls"],
    ["run", "--no"],
  ])
    expect((await desk.matrx(args)).code, args.join(" ")).toBe(255);
});

test("output comes while the program runs, also over an outage of the device's line", {
  timeout: 60_000,
}, async () => {
  const gate = fileIn(rig);
  const script = `echo first; until [ -e '${gate}' ]; do sleep 0.02; done; echo last; exit 4`;
  const { next, ended } = begin([rig.device, "--", "sh", "-c", script]);
  expect(await next()).toBe("first");
  const times = rig.agent.states.filter((state) => state === "REGISTERED").length - 1;
  rig.line.cut();
  await rig.agent.registered(times + 1);
  writeFileSync(gate, "");
  expect(await next()).toBe("last");
  expect(await ended).toMatchObject({ code: 4, stderr: "" });
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s stops the program on the device", { timeout: 30_000 }, async (signal, code) => {
  const { child, next, ended } = begin([rig.device, "--", "sh", "-c", "echo $$; exec sleep 300"]);
  const pid = Number(await next());
  expect(isAlive(pid)).toBe(true);
  child.kill(signal);
  expect((await ended).code).toBe(code);
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test("a reader that goes stops the program, too", { timeout: 30_000 }, async () => {
  const pidFile = fileIn(rig);
  const script = `echo $$ > '${pidFile}'; exec yes`;
  const first = `'${process.execPath}' '${MATRX_BIN}' run ${rig.device} -- sh -c "$SCRIPT" < /dev/null`;
  // In bash the whole array is its first element: the status of the first command.
  const line = `${first} | head -n 1; echo $PIPESTATUS`;
  const env = { ...process.env, ...desk.env, MATRX_HOME: desk.home, SCRIPT: script };
  const shell = spawn("bash", ["-c", line], { env });
  const { stdout, stderr } = await endOf(shell);
  expect(stdout).toBe("y\n141\n");
  // It says so where the start takes long.
  expect(["", "Starting the program ...\n"]).toContain(stderr);
  const pid = Number(readFileSync(pidFile, "utf8"));
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test("with --json there is one object, with all of the output", { timeout: 60_000 }, async () => {
  const lines = Array.from({ length: 100_000 }, (_, i) => `"${i}"\\\u2028\u{1f600}`).join("\n");
  const whole = await desk.matrx(["run", "--json", rig.device, "--", "sh", "-c", "cat; exit 3"], lines);
  expect(whole.code).toBe(3);
  expect(JSON.parse(whole.stdout)).toEqual({
    ...{ device: rig.device, job: expect.stringMatching(/^job_/), output: lines, exit_code: 3 },
  });
  const unknown = await desk.matrx(["run", "--json", "nobody", "--", "ls"]);
  expect(JSON.parse(unknown.stdout)).toMatchObject({ error: { code: "UNKNOWN_DEVICE" } });
  const { child, ended } = begin(["--json", rig.device, "--", "sh", "-c", "echo out; sleep 300"]);
  await once(child.stdout as NodeJS.ReadableStream, "data");
  child.kill("SIGINT");
  const { code, stdout } = await ended;
  expect(code).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({
    output: "out\n",
    exit_code: null,
    error: { code: "CANCELLED" },
  });
});

test("a session keeps its working directory between runs, under any name", { timeout: 60_000 }, async () => {
  const folder = realpathSync(rig.folder);
  await desk.matrx(["call", "bash", `command=cd '${folder}'`, "--session", "work"]);
  const inSession = (name: string) => desk.matrx(["run", "--session", name, rig.device, "--", "pwd"]);
  expect((await inSession("work")).stdout).toBe(`${folder}\n`);
  expect((await inSession("play")).stdout).not.toBe(`${folder}\n`);
});

describe("the words of a line", () => {
  test.each([
    ["run box uname -a", ["box", "uname", "-a"], "box", ["uname", "-a"]],
    ["run box -- uname -a", ["box", "--", "uname", "-a"], "box", ["uname", "-a"]],
    ["run -- uname -a", ["uname", "-a"], undefined, ["uname", "-a"]],
    ["run -n -- box --", ["box", "--"], undefined, ["box", "--"]],
    ["run --json box -- -x", ["box", "--", "-x"], "box", ["-x"]],
  ])("%s", (line, words, device, argv) => {
    expect(readWords(["node", "matrx", ...line.split(" ")], words)).toEqual({ device, argv });
  });

  test.each([
    ["run", []],
    ["run box", ["box"]],
    ["run box --", ["box", "--"]],
    ["run box --json ls", ["box", "--json", "ls"]],
  ])("%s is refused", (line, words) => {
    expect(() => readWords(["node", "matrx", ...line.split(" ")], words)).toThrow();
  });

  test("for PowerShell they are literals of its own (never run)", () => {
    const line = commandLine(["C:\\it's\\x.exe", "a b", 'say "hi"'], "Windows");
    expect(line).toContain(`@('a b', 'say "hi"')`);
    expect(line).toMatch(/& 'C:\\it''s\\x\.exe' @__args$/);
  });
});
