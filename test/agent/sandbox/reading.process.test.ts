/** Read-only commands: what they see, and that nobody else on the machine notices them. */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
} from "node:fs";
import path from "node:path";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it, onTestFinished } from "vitest";
import { Sandbox } from "../../../agent/sandbox/sandbox.ts";
import { bashTool } from "../../../agent/tools/bash.ts";
import { failure, Workbench } from "../tools/workbench.ts";
import { escapes } from "./escapes.ts";
import { NEEDS_SANDBOX } from "./needs-sandbox.ts";
import { openScene, runningCommands, SECRET } from "./scene.ts";

describe("a read-only command", NEEDS_SANDBOX, () => {
  it("reads what the grant may read, and nothing that is closed to it", async () => {
    const { bench, read } = await openBench();
    await bench.put("work/file", "content\n");
    await bench.put("work/.env", SECRET);
    const { output, metadata } = await read("cat file .env; echo scratch > /tmp/x; cat /tmp/x");
    expect(output).toContain("content\n");
    expect(output).toContain("scratch\n");
    expect(output).not.toContain(SECRET);
    expect(metadata).toMatchObject({ read_only: true });
  });

  it("is told by the system, and in a few words by us, that it may not write", async () => {
    const { read } = await openBench();
    const { output, exit } = await read("echo x > made");
    expect(exit).not.toBe(0);
    expect(output).toContain("Read-only file system");
    expect(output).toContain("[With read_only, nothing but /tmp is writable]");
    expect((await read("echo fine")).output).toBe("fine\n");
  });

  it("is confined for an owner too, whose other commands run free", async () => {
    const bench = await Workbench.open();
    await bench.put("file", "content\n");
    const tried = await bench.call("Bash", { command: "cat file; echo x > made", read_only: true });
    expect(tried.output).toMatch(/^content\n[\s\S]*Read-only file system/);
    expect(existsSync(bench.at("made"))).toBe(false);
    expect((await bench.call("Bash", { command: "echo x > made; cat made" })).output).toBe("x\n");
  });

  it("says where it ran, if it does not see the session's folder", async () => {
    const bench = await Workbench.open();
    bench.session.cwd = "/usr";
    const { output } = await bench.call("Bash", { command: "pwd", read_only: true });
    expect(output).toBe(`[Read-only commands do not see /usr; this ran in ${bench.home}]\n${bench.home}\n`);
    expect(bench.session.cwd).toBe("/usr");
  });

  it.each<[string, Partial<GrantScope>]>([
    ["an AI", {}],
    ["the owner", { owner: true }],
  ])("leaves nothing behind for a later command of %s", async (_, scope) => {
    const { bench, read, run } = await openBench(scope);
    mkdirSync(bench.at("work/sub"));
    const left = await read(
      "cd sub; export LEFT=1; left() { echo function; }; alias pwd='echo alias'; trap 'echo trap' DEBUG; echo x > /tmp/matrx-left; echo x > /dev/shm/matrx-left; ls /tmp /dev/shm",
    );
    expect(left.output).toMatch(/matrx-left[\s\S]*matrx-left/);
    const later = await run(
      'pwd; echo "[$LEFT]"; type left; trap -p DEBUG; cat /tmp/matrx-left /dev/shm/matrx-left',
    );
    expect(later.output).toMatch(
      new RegExp(`^${bench.at("work")}\\n\\[\\]\\n.*not found\\ncat: .*\\ncat: .*\\n\\[Exit code 1\\]`),
    );
  });

  it("shares no network with the commands of its session, whatever its grant opens", async () => {
    const { read, bench } = await openBench({ network: ["example.com"] });
    const { output } = await read(
      "grep -v lo: /proc/net/dev; echo $http_proxy; curl -sS -m 3 http://example.com",
    );
    expect(output).not.toMatch(/eth|tap|127\.0\.0\.1:/);
    expect(output).toContain("[With read_only, there is no network");
    await bench.sandbox.close();
  });

  it("cannot do any of what commands in the sandbox cannot do, nor change what they can", async () => {
    const scene = await openScene();
    const pipe = path.join(scene.work, "control");
    execFileSync("mkfifo", [pipe]);
    const listener = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    onTestFinished(() => closeSync(listener));
    const all = escapes(scene);
    const changes = [
      "echo x > made; echo x >> .env; : > repo/new-config; mkdir folder; mkfifo pipe; ln -s / made-link; ln repo/new-config made-too",
      "rm -rf repo; mv repo moved; chmod 700 .; touch repo; touch repo/new-config; truncate -s 0 repo/new-config; setfattr -n user.x -v 1 repo",
      "timeout 1 sh -c 'echo x > control'; timeout 1 sh -c 'echo x 1<> control'; timeout 1 cat control; echo x > other-name",
      "renice 19 -u $(id -u); kill -9 -1",
    ];
    const before = treeOf(scene.root, [scene.state]);
    const output = await scene.reading([...all.flatMap(({ commands }) => commands), ...changes]);
    expect(output).not.toMatch(new RegExp(`${SECRET}|ESCAPED`));
    expect(all.filter(({ hasEscaped }) => hasEscaped?.(scene)).map(({ name }) => name)).toEqual([]);
    expect(scene.isHelperAlive()).toBe(true);
    expect(treeOf(scene.root, [scene.state])).toEqual(before);
    expect(readSync(listener, Buffer.alloc(10))).toBe(0);
  });

  it("ends with its call: not in the background, and not with a later answer", async () => {
    const { read } = await openBench();
    for (const more of [{ run_in_background: true }, { yield_ms: 10 }])
      expect(await failure(read("sleep 60", more))).toMatchObject({
        code: "INVALID_PARAMETERS",
        hint: `Leave out ${Object.keys(more)[0]} or read_only`,
      });
    expect((await read("echo fine", { run_in_background: false })).output).toBe("fine\n");
  });

  it("ends with the agent, since its call is made again", async () => {
    const { bench, read } = await openBench();
    const name = `sleep 77${process.pid}`;
    const heard = Promise.withResolvers<void>();
    void read(`echo up; exec ${name}`, {}, () => heard.resolve()).catch(() => undefined);
    await heard.promise;
    await expect.poll(runningCommands).toContain(name);
    await bench.restart();
    await expect.poll(runningCommands).not.toContain(name);
  });

  it("that takes too long changed nothing, and its caller need not look", async () => {
    const { read } = await openBench();
    expect(await failure(read("sleep 60", { timeout: 1000 }))).toMatchObject({
      code: "TIMEOUT",
      message: expect.stringContaining("It changed nothing"),
      hint: "Allow a longer timeout",
    });
  });
});

it("without a sandbox, a read-only command is refused, also to the owner, and never run without one", async () => {
  const bench = await Workbench.open();
  const { files, proxies, jobs } = bench;
  const sandbox = new Sandbox({
    files,
    proxies,
    findBackend: () => ({ why: "none is here", help: "Get one" }),
  });
  const tool = bashTool(jobs, sandbox);
  const ran = bench.callTool(tool, { command: "echo x > made", read_only: true });
  expect(await failure(ran)).toMatchObject({
    code: "UNAVAILABLE",
    message: "A read-only command runs in a sandbox, and it does not work here: none is here",
    hint: "Get one. Without read_only, a command runs as the token allows",
  });
  expect(existsSync(bench.at("made"))).toBe(false);
  expect((await bench.callTool(tool, { command: "echo fine" })).output).toBe("fine\n");
});

/** A device whose caller works in `work`. */
async function openBench(scope: Partial<GrantScope> = {}) {
  const bench = await Workbench.open();
  mkdirSync(bench.at("work"));
  const limits = scope.owner ? {} : { paths: [bench.at("work")] };
  const id = makeGrantId();
  const grant: GrantScope = { id, owner: false, effects: ["read", "write", "execute"], ...limits, ...scope };
  const session = bench.newSession(grant);
  session.cwd = bench.at("work");
  const run = (command: string, input = {}, output?: () => void) =>
    bench.call("Bash", { command, ...input }, { grant, session, ...(output && { output }) });
  const read: typeof run = (command, input, output) => run(command, { ...input, read_only: true }, output);
  return { bench, run, read };
}

/** What is there, and whether any of it was changed. */
function treeOf(folder: string, without: readonly string[]): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const paths = [folder, ...names.map((name) => path.join(folder, name))];
  const own = paths.filter((entry) => !without.some((other) => entry.startsWith(other)));
  return Object.fromEntries(
    own.map((entry) => {
      const { ino, size, mode, mtimeNs, ctimeNs, nlink } = lstatSync(entry, { bigint: true });
      return [entry, [ino, size, mode, mtimeNs, ctimeNs, nlink].join(" ")];
    }),
  );
}
