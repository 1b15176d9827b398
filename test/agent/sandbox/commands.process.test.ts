/** Commands of callers who may not run them freely: they run in a real sandbox, and are jobs like all others. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import { Jobs } from "../../../agent/jobs/jobs.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { NEEDS_ROOT } from "../../helpers/parts.ts";
import { type CallOptions, failure, isAlive, Workbench } from "../tools/workbench.ts";
import { NEEDS_SANDBOX } from "./needs-sandbox.ts";

describe("a command of an AI grant", NEEDS_SANDBOX, () => {
  it("works in the granted folder, and persists its directory", async () => {
    const { bench, run } = await openBench();
    await bench.put("work/sub/file", "content\n");
    expect(await run("cat sub/file; cd sub; echo new > made; pwd")).toMatchObject({
      output: `content\n${bench.at("work/sub")}\n`,
      exit: 0,
      metadata: { cwd: bench.at("work/sub") },
    });
    expect(readFileSync(bench.at("work/sub/made"), "utf8")).toBe("new\n");
    expect((await run("pwd; cd /tmp")).output).toBe(`${bench.at("work/sub")}\n`);
    // Its private folder is gone with it.
    expect((await run("pwd")).output).toBe(`${bench.at("work/sub")}\n`);
  });

  it("is told that it is the sandbox, where a domain or a folder cannot be found", async () => {
    const { bench, run } = await openBench();
    const script = "require('dns').lookup('example.com', (e) => console.log(String(e)))";
    expect((await run(`${process.execPath} -e "${script}" || curl -sS http://example.com`)).output).toContain(
      "[This grant opens no domains",
    );
    const missing = await run("ls /srv/mail");
    expect(missing.output).toContain("[/srv/mail is not here, whether or not the machine has it");
    expect(missing.output).toContain(bench.at("work"));
    const left = "cat /tmp/left";
    expect((await run(`echo x > /tmp/left; ${left}`)).output).toBe("x\n");
    expect((await run(left)).output).toContain("[/tmp/left is not here: /tmp is empty for each command]");
    expect((await run("ls gone")).output).not.toContain("is not here");
  });

  it.each([
    ["exit", "exit 7", 7],
    ["a killed shell", "kill -9 $$", 137],
    ["a syntax error", "if", 2],
    ["exec", "exec sh -c 'exit 5'", 5],
    ["set -e", "set -e; false; echo never", 1],
    ["an unknown program", "no-such-program-here", 127],
  ])("gives the exit code of %s", async (_what, command, code) => {
    const { run } = await openBench();
    expect((await run(command)).exit).toBe(code);
  });

  it("reads its stdin, sees no descriptor of ours, and gets a clean environment", async () => {
    process.env.SOME_API_KEY = "leaked";
    const { run } = await openBench();
    const stdin_base64 = Buffer.from("from stdin").toString("base64");
    expect((await run("cat", { stdin_base64 })).output).toBe("from stdin");
    const { output } = await run("env; ls /proc/self/fd");
    delete process.env.SOME_API_KEY;
    expect(output).not.toMatch(/leaked|API_KEY/);
    expect(output.match(/^(\w+)=/gm)?.sort()).toEqual(
      expect.arrayContaining(["HOME=", "MATRX_JOB=", "PATH=", "TMPDIR="]),
    );
    // The last one is the folder that `ls` reads.
    expect(output.match(/^\d+$/gm)).toEqual(["0", "1", "2", "3"]);
  });

  it("finds no path of ours in what the first process of its sandbox was given", async () => {
    const { bench, run } = await openBench();
    const { output } = await run("tr '\\0' '\\n' < /proc/1/environ; tr '\\0' '\\n' < /proc/1/cmdline");
    expect(output).toMatch(/^MATRX_JOB=/m);
    expect(output).not.toContain(bench.jobsFolder);
    expect(output).not.toMatch(/^PWD=(?!\/$)/m);
  });

  it("moves the session also when it exits before its end", async () => {
    const { bench, run } = await openBench();
    mkdirSync(bench.at("work/deep"));
    await run("cd deep; exit 3");
    expect((await run("pwd")).output).toBe(`${bench.at("work/deep")}\n`);
  });

  it("passes on live output, and is stopped with its words at the deadline", async () => {
    const { run } = await openBench();
    const error = await failure(
      run("trap 'echo bye; exit 3' TERM; echo begun; while :; do sleep 0.05; done", { timeout: 1500 }),
    );
    expect(error.code).toBe("TIMEOUT");
    expect(error.details).toMatchObject({ status: "timed_out", exit_code: 3 });
    expect(error.message).toMatch(/begun\n(?:.*\n)*bye/);
  });

  it("reads only, if its grant does not write", async () => {
    const { bench, run } = await openBench({ effects: ["read", "execute"] });
    await bench.put("work/file", "content\n");
    const { output, exit } = await run("cat file; echo x > file; echo x > /tmp/own && cat /tmp/own");
    expect(output).toMatch(/^content\nbash: line 1: file: Read-only file system\nx\n$/);
    expect(exit).toBe(0);
    expect(readFileSync(bench.at("work/file"), "utf8")).toBe("content\n");
  });

  it("reaches what all parties allow", async () => {
    const { bench, run } = await openBench();
    for (const name of ["work/both/a", "work/grant/a", "policy/a"]) await bench.put(name, name);
    const policy = { allowed_paths: [bench.at("work/both"), bench.at("policy")] };
    const list = `for f in ${bench.home}/*/a ${bench.home}/*/*/a; do [ -e "$f" ] && echo "$f"; done; true`;
    expect((await run(list, {}, { policy })).output).toBe(`${bench.at("work/both/a")}\n`);
  });

  it("does not see what policy or grant closes, nor the built-in list of secrets", async () => {
    const { bench, run } = await openBench({ paths: ["HOME"] });
    for (const name of [".ssh/id", "p/.env", "p/.env.local", "p/keys/a", "p/open"])
      await bench.put(name, "SECRET");
    const policy = { denied_paths: ["**/keys"] };
    const { output } = await run("cd p; cat ../.ssh/id .env .env.local keys/a; cat open", {}, { policy });
    expect(output.match(/SECRET/g)).toHaveLength(1);
    const { output: open } = await run("cat .env", {}, { grant: { secrets: "open" } });
    expect(open).toBe("SECRET");
  });

  it("cannot create what is closed and missing, such as a shell's start-up file", async () => {
    const { bench, run } = await openBench({ paths: ["HOME"] });
    await bench.put("project/file", "old");
    await run(
      "echo evil > ~/.bashrc; mkdir -p ~/.ssh ~/.config/autostart; echo evil > ~/.config/autostart/x; true",
    );
    expect(readdirSync(bench.home)).toEqual(["project", "work"]);
    await run("echo new > project/file; echo x > project/more");
    expect(readFileSync(bench.at("project/file"), "utf8")).toBe("new\n");
  });

  it("does not see what a closed link leads to, nor lead it elsewhere", async () => {
    const { bench, run } = await openBench({ paths: ["HOME"] });
    await bench.put("dotfiles/ssh/key", "SECRET");
    await bench.put("dotfiles/config/gh/token", "SECRET");
    await bench.put("project/secrets", "SECRET");
    symlinkSync(bench.at("dotfiles/ssh"), bench.at(".ssh"));
    symlinkSync("dotfiles/config", bench.at(".config"));
    symlinkSync("secrets", bench.at("project/.env"));
    const { output } = await run(
      "cat ~/.ssh/key ~/dotfiles/ssh/key ~/.config/gh/token ~/dotfiles/config/gh/token project/.env project/secrets;" +
        " rm ~/.ssh ~/.config; mv ~/dotfiles ~/moved; cat ~/moved/ssh/key; echo fine > project/file; cat project/file",
    );
    expect(output).toMatch(/^(?!.*SECRET).*\nfine\n$/s);
    expect(readdirSync(bench.home).sort()).toEqual([".config", ".ssh", "dotfiles", "project", "work"]);
  });

  it("may read a repository's settings, and not change them", async () => {
    const { bench, run } = await openBench();
    await bench.put("work/.git/config", "[core]\n");
    const { output } = await run(
      "cat .git/config; echo x >> .git/config; echo x > .git/other && echo changed",
    );
    expect(output).toMatch(/^\[core\]\n.*Read-only file system\nchanged\n$/);
  });

  it("ends what it leaves running", async () => {
    const { bench, run } = await openBench();
    await run("setsid nohup sleep 1000 & echo $! > pid; true");
    expect(existsSync(bench.at("work/pid"))).toBe(true);
    expect((await run("ls /proc | grep -c '^[0-9]'")).output.trim()).toMatch(/^[1-6]$/);
  });

  it("runs as many at once as it may, each with its own exit code", async () => {
    const { run } = await openBench();
    const codes = Array.from({ length: 20 }, (_, index) => index);
    const results = await Promise.all(codes.map((code) => run(`exit ${code}`)));
    expect(results.map(({ exit }) => exit)).toEqual(codes);
  });

  it("follows no PATH of a granted folder outside of the sandbox", async () => {
    const { bench, run } = await openBench({}, (home) => ({ PATH: `${home}/work/bin:${process.env.PATH}` }));
    for (const name of ["cat", "bwrap", "bash", "prlimit"]) {
      const file = await bench.put(`work/bin/${name}`, `#!/bin/sh\necho ran > ${bench.home}/outside\n`);
      chmodSync(file, 0o755);
    }
    expect((await run("echo fine")).output).toBe("fine\n");
    expect(existsSync(bench.at("outside"))).toBe(false);
  });
});

describe("an owner's command", NEEDS_SANDBOX, () => {
  it("runs in the sandbox too, if the policy says so", async () => {
    const bench = await Workbench.open();
    const outside = `${bench.state}/../outside`;
    writeFileSync(outside, "SECRET");
    const look = { command: `cat ${outside}; echo x > here; cat here` };
    expect((await bench.call("Bash", look)).output).toBe("SECRETx\n");
    const { output } = await bench.call("Bash", look, { policy: { sandbox: "always" } });
    expect(output).toMatch(/No such file or directory\nx\n/);
  });
});

describe("a job in the sandbox", NEEDS_SANDBOX, () => {
  it("outlives the agent, keeps its output and exit code, and can be stopped", async () => {
    const { bench, run } = await openBench();
    const { metadata } = await run("echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 7", {
      run_in_background: true,
    });
    const id = String(metadata?.bash_id);
    await bench.restart();
    writeFileSync(bench.at("work/go"), "");
    const job = bench.jobs.find(id, bench.owner);
    await job.ended;
    expect(job.record).toMatchObject({ status: "completed", exit: 7 });

    const other = await run("trap 'exit 3' TERM; echo x; while :; do sleep 0.02; done", {
      run_in_background: true,
    });
    await bench.restart();
    const second = bench.jobs.find(String(other.metadata?.bash_id), bench.owner);
    await expect.poll(() => readFileSync(second.log.file, "utf8")).toBe("x\n");
    await second.stop("stopped");
    expect(second.record).toMatchObject({ status: "stopped", exit: 3 });
    expect(isAlive(second.record.pid)).toBe(false);
  });

  it("outlives an agent that is killed, which leaves nothing in the folder", async () => {
    const root = temporaryFolder();
    const work = `${root}/work`;
    mkdirSync(`${work}/.git/hooks`, { recursive: true });
    writeFileSync(`${work}/.env`, "SECRET");
    const agent = spawn(process.execPath, [`${import.meta.dirname}/start-and-hang.ts`, root], {
      stdio: "inherit",
    });
    const folder = `${root}/state/jobs`;
    const logs = () => (existsSync(folder) ? readdirSync(folder).map((job) => `${folder}/${job}/log`) : []);
    await expect
      .poll(() => logs().map((log) => existsSync(log) && readFileSync(log, "utf8")))
      .toEqual(["begun\n"]);
    agent.kill("SIGKILL");
    await once(agent, "exit");
    const jobs = await Jobs.open({ directory: folder });
    writeFileSync(`${work}/go`, "");
    const [id = ""] = readdirSync(folder);
    const job = jobs.find(id, { id: makeGrantId(), owner: true });
    await job.ended;
    jobs.close();
    expect(job.record).toMatchObject({ status: "completed", exit: 7 });
    expect(readdirSync(work, { recursive: true }).sort()).toEqual([".env", ".git", ".git/hooks"]);
    expect(readFileSync(`${work}/.env`, "utf8")).toBe("SECRET");
  });

  it("leaves nothing in the folder, and in the job's own nothing but its output", async () => {
    const { bench, run } = await openBench();
    await bench.put("work/.env", "SECRET");
    symlinkSync("/etc/shadow", bench.at("work/link"));
    const { metadata } = await run("echo output");
    expect(readdirSync(bench.at("work")).sort()).toEqual([".env", "link"]);
    expect(readFileSync(bench.at("work/.env"), "utf8")).toBe("SECRET");
    const folder = `${bench.jobsFolder}/${metadata?.bash_id}`;
    expect(readdirSync(folder).sort()).toEqual(["cwd", "job.json", "log", "rc"]);
  });
});

describe("a folder that a command closed to the agent", NEEDS_SANDBOX, () => {
  it.each([
    ["chmod 0 d", "chmod 700 d; cat d/.env d/sub/.env"],
    ["chmod 400 d", "chmod 700 d; cat d/.env d/sub/.env"],
    ["chmod 300 d/sub", "cat d/sub/.env; chmod 700 d/sub; cat d/sub/.env"],
    ["chmod 0 .", "chmod 700 .; cat d/.env"],
  ])("keeps what is closed in it: %s", async (first, then) => {
    const { bench, run } = await openBench();
    await bench.put("work/d/.env", "KEY=secret\n");
    await bench.put("work/d/sub/.env", "KEY=secret\n");
    await run(first);
    expect((await run(then)).output).not.toContain("secret");
    for (const folder of ["work", "work/d", "work/d/sub"]) chmodSync(bench.at(folder), 0o700);
    expect((await run("ls -A d; cat d/.env")).output).toMatch(/^\.env\nsub\n.*Permission denied/);
  });
});

/** In the sandbox, root has no capabilities: what another user closed is closed to it. */
describe("a command of an agent that runs as root", NEEDS_ROOT, () => {
  it("runs although the PATH names a folder that another user closed", async () => {
    const closed = folderOfAnother();
    const { run } = await openBench({}, () => ({ PATH: `${process.env.PATH}:${closed}/bin` }));
    expect(await run("echo fine")).toMatchObject({ output: "fine\n", exit: 0 });
  });

  it("runs although another user's closed folder holds a socket in a granted one", async () => {
    const { bench, run } = await openBench();
    const closed = bench.at("work/private");
    mkdirSync(closed, { mode: 0o700 });
    const server = createServer().listen(`${closed}/socket`);
    await once(server, "listening");
    chownSync(closed, 65534, 65534);
    expect(await run("ls -A private; echo fine")).toMatchObject({ output: "fine\n", exit: 0 });
    server.close();
  });

  it("is refused if it was granted such a folder, and its caller is told why", async () => {
    const closed = folderOfAnother();
    const { run } = await openBench({ paths: [`${closed}/bin`] });
    expect(await failure(run("echo never"))).toMatchObject({
      code: "UNAVAILABLE",
      message: `Commands can't enter ${closed}/bin: it lies in a folder of another user`,
      hint: expect.stringContaining("run it as the folder's user"),
    });
  });
});

function folderOfAnother(): string {
  const folder = temporaryFolder();
  mkdirSync(`${folder}/bin`);
  chownSync(folder, 65534, 65534);
  return folder;
}

type Options = Omit<CallOptions, "grant" | "session"> & { grant?: Extra };
type Extra = Partial<Omit<GrantScope, "id">>;

/** A device whose caller has an AI grant of `work`, or of all of home. */
async function openBench(scope: Extra = {}, envOf: (home: string) => NodeJS.ProcessEnv = () => ({})) {
  const env: NodeJS.ProcessEnv = { ...process.env };
  const bench = await Workbench.open({ env });
  Object.assign(env, envOf(bench.home));
  mkdirSync(bench.at("work"));
  const paths = (scope.paths ?? ["WORK"]).map((path) =>
    path === "HOME" ? bench.home : path === "WORK" ? bench.at("work") : path,
  );
  const grant: GrantScope = {
    id: makeGrantId(),
    owner: false,
    effects: ["read", "write", "execute"],
    ...scope,
    paths,
  };
  const session = bench.newSession(grant);
  const run = (
    command: string,
    input: Record<string, unknown> = {},
    { grant: more, ...options }: Options = {},
  ) => bench.call("Bash", { command, ...input }, { ...options, grant: { ...grant, ...more }, session });
  return { bench, grant, session, run };
}
