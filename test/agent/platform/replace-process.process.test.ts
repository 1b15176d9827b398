import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { needs } from "../../helpers/parts.ts";

const NEEDS_EXECVE = needs(process.execve !== undefined, "swapping the program needs POSIX");
const PROGRAM = fileURLToPath(new URL("runs-twice.ts", import.meta.url));

interface Run {
  pid: number;
  parent: number;
  arguments: string[];
}

function start(...args: string[]): { child: ChildProcess; lines: () => Run[] } {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const lines = () =>
    output
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Run);
  return { child, lines };
}

test("a swapped program is the same process, with its arguments and its end", NEEDS_EXECVE, async () => {
  const { child, lines } = start("swap", "ends");
  expect(await once(child, "close")).toEqual([7, null]);
  const [first, second] = lines();
  expect(second).toEqual(first);
  expect(second?.pid).toBe(child.pid);
});

test("where none can be swapped a child takes over: signals go to it, and its end is the program's", async () => {
  const { child, lines } = start("child", "ends");
  expect(await once(child, "close")).toEqual([7, null]);
  expect(lines()[1]).toMatchObject({ parent: child.pid, arguments: ["child", "ends"] });

  const waiting = start("child", "waits");
  await expect.poll(() => waiting.lines().length).toBe(2);
  waiting.child.kill("SIGTERM");
  expect(await once(waiting.child, "close")).toEqual([0, null]);
  expect(() => process.kill(waiting.lines()[1]?.pid ?? 0, 0)).toThrow("ESRCH");
});

test("a program that is gone from the disk is not begun, and the old one goes on", async () => {
  const { child, lines } = start("gone", "ends");
  expect(await once(child, "close")).toEqual([0, null]);
  expect(lines()).toMatchObject([{ pid: child.pid }, { failed: "ENOENT" }]);
});
