import { spawn } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChildLog } from "../../scripts/start/child-log.ts";
import { started } from "../../scripts/start/process.ts";
import { temporaryFolder } from "../helpers/folder.ts";

/** Runs a program that prints, and returns its log. */
async function logOf(program: string, folder = temporaryFolder()) {
  const log = new ChildLog(join(folder, "relay.log"));
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "pipe"] });
  log.follow([child.stdout, child.stderr]);
  await (await started(child)).ended;
  const last = await log.lastLines();
  return { last, folder, text: readFileSync(join(folder, "relay.log"), "utf8") };
}

test("keeps both streams line by line, also a last line without an end", async () => {
  const { text, last } = await logOf(
    "console.log('one\\ntwo'); console.error('three'); process.stdout.write('four')",
  );
  expect(text.trimEnd().split("\n").sort()).toEqual(["four", "one", "three", "two"]);
  expect(last).toContain("four");
});

test("escapes and other controls are spelt out", async () => {
  const { text } = await logOf(String.raw`console.log('\u001b[2J\rroot: forged\u009b1m\u202e')`);
  expect(text).toBe("\\u{1b}[2J\\rroot: forged\\u{9b}1m\\u{202e}\n");
});

test("a line without end is cut, and the next one is a line again", async () => {
  const { text } = await logOf("process.stdout.write('x'.repeat(3e6)); console.log('\\nnext')");
  const [long = "", next] = text.split("\n");
  expect(long.length).toBeLessThanOrEqual(8192);
  expect(next).toBe("next");
});

test("a flood ends, is kept in part, and what was left out is counted", async () => {
  const printed = 300_000;
  const { folder, text, last } = await logOf(`
    const line = 'stray '.repeat(20) + '\\n';
    for (let n = 0; n < ${printed}; n += 100) process.stderr.write(line.repeat(100));
  `);
  expect(readdirSync(folder)).toEqual(["relay.log"]);
  expect(statSync(join(folder, "relay.log")).size).toBeLessThan(2 * 1024 * 1024);
  expect(last.split("\n")).toHaveLength(12);
  const lines = text.trimEnd().split("\n");
  const left = lines.map((line) => Number(/^\((\d+) lines were dropped/.exec(line)?.[1] ?? 0));
  const notes = left.filter((count) => count > 0).length;
  expect(left.reduce((sum, count) => sum + count, 0) + lines.length - notes).toBe(printed);
});

test("is set aside at a size while its child runs on", async () => {
  const folder = temporaryFolder();
  const { last } = await logOf("for (let n = 0; n < 900; n++) console.log('x'.repeat(8000))", folder);
  expect(readdirSync(folder).sort()).toEqual(["relay.log", "relay.log.1"]);
  expect(last).toContain("xxx");
});
