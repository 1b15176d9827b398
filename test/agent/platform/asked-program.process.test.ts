/** A program that is asked again and again: as Windows is for its counters, here with one of this machine's. */
import { expect, onTestFinished, test } from "vitest";
import { AskedProgram } from "../../../agent/platform/asked-program.ts";
import { until } from "../../helpers/launcher.ts";
import { isAlive } from "../tools/workbench.ts";

/** Says its pid for each line, unless told otherwise. */
const ANSWERS = 'while read -r line; do eval "$line"; done';

function program({
  script = ANSWERS,
  question = "echo noise; echo {$$}",
  answerWithinMs = 10_000,
  idleMs = 60_000,
} = {}) {
  const asked = new AskedProgram({
    ...{ file: "/bin/sh", args: ["-c", script], question, answerWithinMs, idleMs },
    isAnswer: (line) => line.startsWith("{"),
  });
  const pids = new Set<number>();
  onTestFinished(() => {
    for (const pid of pids) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  });
  return async () => {
    const pid = Number((await asked.ask()).slice(1, -1));
    pids.add(pid);
    return pid;
  };
}

test("answers many times, in order, and is started once", async () => {
  const ask = program();
  const pids = await Promise.all([ask(), ask(), ask()]);
  expect(new Set([...pids, await ask()]).size).toBe(1);
});

test("is started anew after it ended", async () => {
  const ask = program();
  const first = await ask();
  process.kill(first, "SIGKILL");
  await until("it has ended", async () => !isAlive(first));
  // Its end may be known only once it is asked again.
  const second = await ask().catch(() => ask());
  expect(second).not.toBe(first);
});

test("is ended when nobody asks any more", async () => {
  const ask = program({ idleMs: 50 });
  const pid = await ask();
  await until("it has ended", async () => !isAlive(pid));
});

test.each([
  ["does not answer", { question: "sleep 60", answerWithinMs: 50 }, "it did not answer within 50 ms"],
  ["ends instead", { question: "exit 0" }, "it ended"],
])("one that %s fails the question, not the next ones", async (_title, options, message) => {
  const ask = program(options);
  await expect(ask()).rejects.toThrow(message);
  await expect(ask()).rejects.toThrow(message);
});

test("one that is not there fails the question", async () => {
  const asked = new AskedProgram({
    ...{ file: "/nowhere/powershell", args: [], question: "?", isAnswer: () => true },
    ...{ answerWithinMs: 10_000, idleMs: 60_000 },
  });
  await expect(asked.ask()).rejects.toThrow("it ended");
});
