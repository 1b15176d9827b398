/** What a confined program holds open, and what it could fill with that: nothing of ours but pipes and its terminal. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import { confinedProgram } from "../../../agent/terminals/confined-program.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { Workbench } from "../tools/workbench.ts";
import { NEEDS_SANDBOX } from "./needs-sandbox.ts";

/** Of the sandbox's first process, of the shell, and of a program that the shell starts. */
const LIST = 'for p in 1 $$ self; do for f in /proc/$p/fd/*; do readlink "$f"; done; done; true';
const PIPE = /^pipe:\[\d+\]$/;
/** What bubblewrap waits at. */
const EVENT = /^anon_inode:\[eventfd\]$/;
const NOTHING = /^\/dev\/null$/;
const TERMINAL = /^\/dev\/pts\/\d+$/;

describe("a confined program", NEEDS_SANDBOX, () => {
  it.each<[what: string, tool: string, more: Record<string, unknown>, allowed: readonly RegExp[]]>([
    ["a command", "Bash", {}, [PIPE, EVENT, NOTHING]],
    ["a command with input", "Bash", { stdin_base64: btoa("some") }, [PIPE, EVENT]],
    ["a terminal", "TerminalExecute", {}, [PIPE, EVENT, TERMINAL]],
  ])("%s holds no file of ours", async (_, tool, more, allowed) => {
    const { call } = await confined();
    const { output } = await call(tool, { command: LIST, ...more });
    const held = output.split(/\r?\n/).filter((line) => line !== "");
    expect(held.length).toBeGreaterThan(8);
    expect(held.filter((target) => !allowed.some((kind) => kind.test(target)))).toEqual([]);
  });

  it("that writes to every descriptor leaves no more in our data than a path and its log", async () => {
    const { bench, call } = await confined();
    const fill = [
      "for n in 10 201; do truncate -s 900M /proc/$$/fd/$n; head -c 9M /dev/zero > /proc/$$/fd/$n; done",
      "(while :; do :; done) & echo done",
    ].join("\n");
    const answer = await call("Bash", { command: fill, stdin_base64: btoa("some") });
    expect(answer).toMatchObject({ exit: 0, metadata: { cwd: bench.at("work") } });
    expect(answer.output).toMatch(/^done$/m);
    const sizes = readdirSync(bench.jobsFolder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [name, statSync(path.join(parentPath, name)).size] as const);
    expect(sizes.filter(([, size]) => size > 4096)).toEqual([]);
    expect(Object.fromEntries(sizes)).toMatchObject({ cwd: 4096, rc: 2 });
  });

  it("moves the session by the longest path, and passes on all of a large input", async () => {
    const { bench, call } = await confined();
    const deep = "d".repeat(200);
    const command = `for n in $(seq 19); do mkdir ${deep}; cd ${deep}; done; wc -c`;
    const answer = await call("Bash", { command, stdin_base64: Buffer.alloc(700_000).toString("base64") });
    expect(answer).toMatchObject({ output: "700000\n", exit: 0 });
    expect(answer.metadata?.cwd).toBe(path.join(bench.at("work"), ...Array<string>(19).fill(deep)));
  });
});

it("a terminal in the sandbox inherits no file that the agent was begun with", () => {
  const wrapped = { file: "/bin/ls", args: ["/proc/self/fd"], env: {}, fds: [] };
  const { file, args } = confinedProgram(path.join(temporaryFolder(), "term"), wrapped, {});
  const begun = ["-c", 'exec 77< /etc/passwd 7< /etc/passwd; exec "$@"', "agent", file, ...args];
  // The last one is the folder that `ls` reads.
  expect(execFileSync("/bin/bash", begun, { encoding: "utf8" })).toBe("0\n1\n2\n3\n");
});

async function confined() {
  const bench = await Workbench.open();
  mkdirSync(bench.at("work"));
  const effects: GrantScope["effects"] = ["read", "write", "execute"];
  const grant: GrantScope = { id: makeGrantId(), owner: false, effects, paths: [bench.at("work")] };
  const session = bench.newSession(grant);
  session.cwd = bench.at("work");
  const call = (tool: string, input: Record<string, unknown>) => bench.call(tool, input, { grant, session });
  return { bench, call };
}
