/** Logs that never grow without bound, whoever writes them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeLog } from "../../../agent/log/log.ts";
import { LogFile } from "../../../agent/log/log-file.ts";
import { shortLine } from "../../../agent/log/short-line.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

const WRITER = join(import.meta.dirname, "write-lines.ts");

function linesOf(file: string): string[] {
  return readFileSync(file, "utf8").trimEnd().split("\n");
}

test("it is set aside at its size; the oldest of three goes", () => {
  const path = join(temporaryFolder(), "logs", "agent.log");
  const log = new LogFile({ path, maxBytes: 100 });
  for (let n = 0; n < 100; n++) log.write(`line ${n}\n`);
  expect(readdirSync(join(path, "..")).sort()).toEqual(["agent.log", "agent.log.1", "agent.log.2"]);
  const kept = ["agent.log.2", "agent.log.1", "agent.log"].flatMap((name) => linesOf(join(path, "..", name)));
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, n) => `line ${100 - kept.length + n}`));
  for (const name of readdirSync(join(path, ".."))) {
    const { size, mode } = statSync(join(path, "..", name));
    expect(size).toBeLessThan(110);
    expect(mode & 0o077).toBe(0);
  }
});

test("two programs write one log: no line is torn, none is lost while there is room", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "agent.log");
  const writers = ["a", "b"].map((name) => spawn(process.execPath, [WRITER, path, name, "2000", "30000"]));
  for (const [code] of await Promise.all(writers.map((writer) => once(writer, "exit")))) expect(code).toBe(0);
  const files = readdirSync(folder).filter((name) => !name.endsWith(".lock"));
  expect(files.length).toBeGreaterThan(1);
  const kept = files.flatMap((name) => linesOf(join(folder, name)));
  for (const line of kept) expect(line).toMatch(/^[ab] \d+ x{20}$/);
  // The newest lines of both are there without a gap.
  for (const name of ["a", "b"]) {
    const own = kept
      .filter((line) => line.startsWith(name))
      .map((line) => Number(line.split(" ")[1]))
      .sort((one, other) => one - other);
    expect(own).toEqual(Array.from({ length: own.length }, (_, n) => 2000 - own.length + n));
  }
});

test("a lock left behind by a program that died is taken away", () => {
  const path = join(temporaryFolder(), "agent.log");
  writeFileSync(path, "x".repeat(200));
  writeFileSync(`${path}.lock`, "");
  utimesSync(`${path}.lock`, 1, 1);
  const log = new LogFile({ path, maxBytes: 100 });
  log.write("one\n");
  log.write("two\n");
  expect(linesOf(path)).toEqual(["two"]);
});

test("what could not be written is counted, said once, and told when it works again", () => {
  const folder = temporaryFolder();
  const path = join(folder, "agent.log");
  const failures: unknown[] = [];
  const log = new LogFile({ path, onFailure: (cause) => failures.push(cause) });
  mkdirSync(path);
  log.write("one\n");
  log.write("two\n");
  expect(failures).toHaveLength(1);
  rmSync(path, { recursive: true });
  log.write("three\n");
  const [told, line] = linesOf(path);
  expect(JSON.parse(told ?? "")).toMatchObject({
    lines: 2,
    msg: "some lines of this log could not be written",
  });
  expect(line).toBe("three");
});

test("errors that are logged are heard, with secrets left out of the file", () => {
  const file = join(temporaryFolder(), "agent.log");
  const heard: unknown[] = [];
  const log = makeLog({ file, onError: (problem) => heard.push(problem) });
  log.warn("not yet");
  log.error({ err: new Error("disk on fire"), token: "abc" }, "the journal could not be written");
  expect(heard).toEqual([{ msg: "the journal could not be written", cause: "disk on fire" }]);
  expect(readFileSync(file, "utf8")).not.toContain("abc");
  expect(linesOf(file)).toHaveLength(2);
});

test("hostile text stays on the line of a person's log, and changes nothing around it", () => {
  const hostile = "gone\n12:00:00 REGISTERED\u001b[2J\u202e";
  const line = JSON.stringify({
    level: 40,
    time: 0,
    msg: hostile,
    reason: hostile,
    err: { message: hostile },
  });
  for (const shown of [shortLine(line), shortLine(hostile)]) {
    expect(shown).toContain("gone\\n12:00:00 REGISTERED");
    expect(shown).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  }
});
