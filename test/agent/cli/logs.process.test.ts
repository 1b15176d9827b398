import { once } from "node:events";
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { LogReader } from "../../../agent/log/log-reader.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { runMatrx, startMatrx } from "./matrx.ts";

const line = (msg: string, level = 30) => `${JSON.stringify({ level, time: 0, msg })}\n`;

/** A home whose log was set aside twice. */
function homeWithLog() {
  const home = temporaryFolder();
  const logs = join(home, "logs");
  mkdirSync(logs, { recursive: true });
  writeFileSync(join(logs, "agent.log.2"), line("one"));
  writeFileSync(join(logs, "agent.log.1"), line("two") + line("three", 40));
  writeFileSync(join(logs, "agent.log"), line("four"));
  writeFileSync(join(logs, "local.log"), line("of serve"));
  return { home, log: join(logs, "agent.log") };
}

async function shown(home: string, ...args: string[]) {
  const { code, stdout } = await runMatrx(["logs", ...args], { home });
  expect(code).toBe(0);
  return stdout
    .replaceAll(/^\d\d:\d\d:\d\d /gm, "")
    .trim()
    .split("\n");
}

test("logs shows the last lines over all files, by what matters, of either program", {
  timeout: 30_000,
}, async () => {
  const { home, log } = homeWithLog();
  expect(await shown(home)).toEqual(["one", "two", "warning: three", "four"]);
  expect(await shown(home, "-n", "2")).toEqual(["warning: three", "four"]);
  expect(await shown(home, "--level", "warn")).toEqual(["warning: three"]);
  expect(await shown(home, "--local")).toEqual(["of serve"]);
  expect(JSON.parse((await shown(home, "-n", "1", "--json")).join())).toMatchObject({ msg: "four" });
  expect(await shown(home, "--file", `${log}.2`)).toEqual(["one"]);
});

test("logs says where there is none, and what is no number", async () => {
  const home = temporaryFolder();
  const none = await runMatrx(["logs"], { home });
  expect(none).toMatchObject({
    code: 66,
    stdout: "",
    stderr: expect.stringMatching(/no log at .*agent\.log[\s\S]*matrx up/),
  });
  expect(await runMatrx(["logs", "-n", "many"], { home })).toMatchObject({ code: 64 });
});

test("logs goes on as lines come, also into a new file", { timeout: 30_000 }, async () => {
  const { home, log } = homeWithLog();
  const following = startMatrx(["logs", "-f", "-n", "1", "--json"], { home });
  const lines = createInterface({ input: following.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value)).msg;
  expect(await next()).toBe("four");
  appendFileSync(log, line("five"));
  expect(await next()).toBe("five");
  appendFileSync(log, line("six"));
  renameSync(log, `${log}.1`);
  appendFileSync(log, line("seven"));
  expect([await next(), await next()]).toEqual(["six", "seven"]);
  const ended = once(following, "exit");
  following.kill("SIGINT");
  expect(await ended).toEqual([0, null]);
});

test("a line is shown once it is whole, with its characters", () => {
  const log = join(temporaryFolder(), "agent.log");
  const reader = new LogReader(log, () => true);
  expect(reader.last(5)).toBeUndefined();
  const bytes = Buffer.from("caf\u00e9 \u{1f600}\n");
  for (const [index, byte] of bytes.entries()) {
    appendFileSync(log, Buffer.from([byte]));
    expect(reader.fresh()).toEqual(index === bytes.length - 1 ? ["caf\u00e9 \u{1f600}"] : []);
  }
  expect(reader.fresh()).toEqual([]);
});
