import { existsSync, readdirSync, readFileSync } from "node:fs";
import { stat, utimes } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeCallId, makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import { currentPlatform } from "../../../agent/platform/current.ts";
import type { Platform } from "../../../agent/platform/platform.ts";
import { needs } from "../../helpers/parts.ts";
import { failure, isAlive, processesMarked, Workbench } from "./workbench.ts";

const NEEDS_SCRIPT = needs(
  existsSync("/usr/bin/script"),
  "a command that waits at a terminal needs script: apt-get install bsdutils",
);

async function begin(bench: Workbench, command: string, timeout?: number): Promise<string> {
  const input = { command, run_in_background: true, ...(timeout && { timeout }) };
  const { metadata } = await bench.call("Bash", input);
  return metadata?.bash_id as string;
}

/** Checks until the job has ended; gives all output without notes. */
async function readToEnd(bench: Workbench, bash_id: string): Promise<string> {
  let text = "";
  for (;;) {
    const { output, metadata } = await bench.call("BashOutput", { bash_id, wait_ms: 5000 });
    const page = withoutNotes(output);
    text += metadata?.ends_mid_line ? page.slice(0, -1) : page;
    if (metadata?.status !== "running" && !metadata?.more) return text;
  }
}

function withoutNotes(output: string): string {
  return output.replace(/\[[^\n]*\]$/, "");
}

describe("a command in the background", () => {
  it("has an id of ours, and tells what is new at each check, then that it completed", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, "echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 3");
    expect(bash_id).toMatch(/^job_/);
    const first = await bench.call("BashOutput", { bash_id, wait_ms: 5000 });
    expect(first.output).toBe(`one\n[${bash_id} is running]`);
    expect(first.metadata).toMatchObject({
      status: "running",
      exit_code: null,
      start_offset: 0,
      end_offset: 4,
    });
    expect((await bench.call("BashOutput", { bash_id })).output).toBe(`[${bash_id} is running]`);
    await bench.put("go", "");
    expect(await readToEnd(bench, bash_id)).toBe("two\n");
    const last = await bench.call("BashOutput", { bash_id });
    expect(last.output).toBe(`[${bash_id} completed with exit code 3]`);
    expect(last.metadata).toMatchObject({ status: "completed", exit_code: 3 });
  });

  it("is read byte for byte in base64, whatever it wrote", async () => {
    const bench = await Workbench.open();
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 7 + (i >> 8)) % 256));
    await bench.put("bytes", bytes);
    const bash_id = await begin(
      bench,
      "cat bytes; until [ -e go ]; do sleep 0.02; done; printf '\\342'; exit 3",
    );
    const got: Buffer[] = [];
    for (let offset = 0; ; ) {
      const request = { bash_id, offset, encoding: "base64", byte_limit: 65_537, wait_ms: 5000 };
      const { output, metadata } = await bench.call("BashOutput", request);
      const page = Buffer.from(output, "base64");
      expect(metadata).toMatchObject({ start_offset: offset, end_offset: offset + page.length });
      got.push(page);
      offset += page.length;
      if (offset === bytes.length) await bench.put("go", "");
      if (metadata?.status === "running" || metadata?.more) continue;
      expect(metadata).toMatchObject({ status: "completed", exit_code: 3, log_bytes: offset });
      break;
    }
    expect(Buffer.concat(got)).toEqual(Buffer.concat([bytes, Buffer.from([0o342])]));
    const refused = [{ encoding: "base64", filter: "x" }, { byte_limit: 5 }];
    for (const wrong of refused) {
      const { code } = await failure(bench.call("BashOutput", { bash_id, ...wrong }));
      expect(code).toBe("INVALID_PARAMETERS");
    }
  });

  it("is read by two sessions, and neither takes the other's output", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, "seq 1 5");
    expect(await readToEnd(bench, bash_id)).toBe("1\n2\n3\n4\n5\n");
    const session = bench.newSession();
    const other = await bench.call("BashOutput", { bash_id }, { session });
    expect(other.output).toContain("1\n2\n3\n4\n5\n");
    const again = await bench.call("BashOutput", { bash_id, offset: -4 });
    expect(withoutNotes(again.output)).toBe("4\n5\n");
  });

  it("shows the same again to a call that runs again, because its answer was lost", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, "seq 1 5; sleep 0.3; seq 6 9");
    const call = makeCallId();
    await bench.call("BashOutput", { bash_id, wait_ms: 5000 }, { call });
    const again = await bench.call("BashOutput", { bash_id }, { call });
    expect(again.output).toContain("1\n2\n3\n4\n5\n");
    const rest = withoutNotes(again.output) + (await readToEnd(bench, bash_id));
    expect(rest).toBe("1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  });

  it("gives long output page by page, with nothing lost and no character broken", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, 'for i in $(seq 1 20000); do echo "zeile $i äöü€😀"; done');
    const wanted = Array.from({ length: 20_000 }, (_, i) => `zeile ${i + 1} äöü€😀\n`).join("");
    expect(await readToEnd(bench, bash_id)).toBe(wanted);
  });

  it("shows only lines that match a filter, and counts the others", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(
      bench,
      "echo ok 1; echo error: one; echo ok 2; printf 'error: unfin'; sleep 0.5; echo ished",
    );
    let text = "";
    let leftOut = 0;
    for (;;) {
      const { output, metadata } = await bench.call("BashOutput", {
        bash_id,
        filter: "^error",
        wait_ms: 3000,
      });
      text += withoutNotes(output);
      leftOut += metadata?.lines_left_out as number;
      if (metadata?.status !== "running") break;
    }
    expect(text).toBe("error: one\nerror: unfinished\n");
    expect(leftOut).toBe(2);
  });

  it("waits for the rest of a character, and with a filter for the rest of a line", async () => {
    const bench = await Workbench.open();
    const command =
      "printf '\\xe2\\x82'; until [ -e go ]; do sleep 0.02; done; printf '\\xac'; sleep 0.3; echo .";
    const bash_id = await begin(bench, command);
    const other = { session: bench.newSession() };
    const early = await bench.call("BashOutput", { bash_id, wait_ms: 300 });
    expect(early.metadata).toMatchObject({ wait_ended: "time", end_offset: 0 });
    await bench.put("go", "");
    expect(withoutNotes((await bench.call("BashOutput", { bash_id, wait_ms: 5000 })).output)).toMatch(/^€/);
    const line = await bench.call("BashOutput", { bash_id, filter: "€", wait_ms: 5000 }, other);
    expect(withoutNotes(line.output)).toBe("€.\n");
  });

  it("refuses a filter that is none, or takes too long", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, `echo ${"a".repeat(60)}b`);
    await readToEnd(bench, bash_id);
    const broken = await failure(bench.call("BashOutput", { bash_id, filter: "(" }));
    expect(broken).toMatchObject({ code: "INVALID_PARAMETERS", details: { field: "filter" } });
    const slow = await failure(bench.call("BashOutput", { bash_id, filter: "^(a+)+$", offset: 0 }));
    expect(slow.message).toContain("took longer");
    expect((await bench.call("BashOutput", { bash_id, offset: 0 })).output).toContain("aaab");
  });

  it("still runs though it writes something that looks like an error", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, "echo 'Error: failed'; sleep 100");
    const { metadata } = await bench.call("BashOutput", { bash_id, wait_ms: 5000 });
    expect(metadata?.status).toBe("running");
  });

  it("is stopped with all that it began, and its output stays", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, "sleep 100 & sleep 100 & echo $$; wait");
    const { output } = await bench.call("BashOutput", { bash_id, wait_ms: 5000 });
    const shell = Number.parseInt(output, 10);
    expect(isAlive(shell)).toBe(true);
    const stopped = await bench.call("TaskStop", { task_id: bash_id });
    expect(stopped.output).toContain(`Stopped ${bash_id}`);
    expect(processesMarked(`MATRX_JOB=${bash_id}`)).toEqual([]);
    const after = await bench.call("BashOutput", { bash_id, offset: 0 });
    expect(after.output).toBe(`${shell}\n[${bash_id} was stopped]`);
    expect((await bench.call("TaskStop", { task_id: bash_id })).output).toContain("nothing to stop");
  });

  it("may leave a process running, which TaskStop ends later", async () => {
    const bench = await Workbench.open();
    const { metadata } = await bench.call("Bash", { command: "setsid sleep 100 & echo $!" });
    const task_id = metadata?.bash_id as string;
    expect(processesMarked(`MATRX_JOB=${task_id}`).length).toBeGreaterThan(0);
    expect((await bench.call("TaskStop", { task_id })).output).toContain(
      "the processes it left running were stopped",
    );
    expect(processesMarked(`MATRX_JOB=${task_id}`)).toEqual([]);
  });

  it("is stopped at its own timeout, if one was given", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, "sleep 100", 200);
    const { output, metadata } = await bench.call("BashOutput", { bash_id, wait_ms: 5000 });
    expect(metadata?.status).toBe("timed_out");
    expect(output).toContain("ran out of time");
  });

  it("belongs to its grant; the owner sees all", async () => {
    const bench = await Workbench.open();
    const guest = { ...bench.owner, id: makeGrantId(), owner: false };
    const other = { ...guest, id: makeGrantId() };
    const { metadata } = await bench.call(
      "Bash",
      { command: "echo mine", run_in_background: true },
      { grant: guest },
    );
    const bash_id = metadata?.bash_id as string;
    expect((await failure(bench.call("BashOutput", { bash_id }, { grant: other }))).code).toBe("NOT_FOUND");
    expect((await failure(bench.call("TaskStop", { task_id: bash_id }, { grant: other }))).code).toBe(
      "NOT_FOUND",
    );
    expect((await bench.call("BashOutput", { bash_id, wait_ms: 3000 }, { grant: guest })).output).toContain(
      "mine",
    );
    expect((await bench.call("BashOutput", { bash_id, offset: 0 })).output).toContain("mine");
    expect((await failure(bench.call("BashOutput", { bash_id: "1234" }))).code).toBe("NOT_FOUND");
  });

  it("ends with its grant, and is told as cancelled", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, "sleep 100");
    await bench.jobs.endOf((grant) => grant === bench.owner.id);
    expect(processesMarked(`MATRX_JOB=${bash_id}`)).toEqual([]);
    expect(bench.jobs.find(bash_id, bench.owner).record.status).toBe("cancelled");
  });

  it("is recorded without the secrets of its command", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, "echo hunter3 | sudo -S true; export API_TOKEN=hunter3; sleep 100");
    const kept = readFileSync(path.join(bench.jobs.find(bash_id, bench.owner).directory, "job.json"), "utf8");
    expect(kept).toContain("sleep 100");
    expect(kept).not.toContain("hunter3");
    await bench.jobs.endOf((grant) => grant === bench.owner.id);
  });

  it("ends when the machine is paused for whose it is, and is told as cancelled", async () => {
    const bench = await Workbench.open();
    const start = (owner: boolean) =>
      bench.jobs.start({
        ...{ grant: makeGrantId(), owner, call: `of ${owner ? "the owner" : "an AI"}` },
        ...{ command: "sleep 100", cwd: bench.home, background: true },
      });
    const [owners, ais] = [await start(true), await start(false)];
    expect(await bench.jobs.stopFor("ai")).toEqual(["of an AI"]);
    expect([owners.isRunning, ais.record.status]).toEqual([true, "cancelled"]);
    expect(processesMarked(`MATRX_JOB=${ais.id}`)).toEqual([]);
    expect(await bench.jobs.stopFor("everyone")).toEqual(["of the owner"]);
    expect(processesMarked(`MATRX_JOB=${owners.id}`)).toEqual([]);
  });
});

describe("a command that is given some time", () => {
  it("answers with what it wrote until then, goes on, and is read on from there", async () => {
    const bench = await Workbench.open();
    const command = "echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 3";
    const { output, metadata, exit } = await bench.call("Bash", { command, yield_ms: 2000 });
    const bash_id = metadata?.bash_id as string;
    expect(output).toBe(
      `one\n[${bash_id} is still running, now in the background. Read more with BashOutput, stop it with TaskStop]`,
    );
    expect(metadata).toMatchObject({ status: "running", exit_code: null, start_offset: 0, end_offset: 4 });
    expect(exit).toBeUndefined();
    await bench.put("go", "");
    expect(await readToEnd(bench, bash_id)).toBe("two\n");
    expect((await bench.call("BashOutput", { bash_id })).metadata).toMatchObject({ exit_code: 3 });
  });

  it("answers as ever when it ends before", async () => {
    const bench = await Workbench.open();
    const { output, metadata } = await bench.call("Bash", {
      command: "cd /; echo done; exit 2",
      yield_ms: 60_000,
    });
    expect(output).toBe("done\n[Exit code 2]");
    expect(metadata).toMatchObject({ status: "completed", exit_code: 2, cwd: "/" });
  });

  it("keeps a character whole of which only the first half is there", async () => {
    const bench = await Workbench.open();
    const command = "printf 'a\\xe2\\x82'; until [ -e go ]; do sleep 0.02; done; printf '\\xacb'";
    const { output, metadata } = await bench.call("Bash", { command, yield_ms: 400 });
    expect(output).not.toContain("\ufffd");
    const before = withoutNotes(output).trimEnd();
    expect(metadata?.end_offset).toBe(before.length);
    await bench.put("go", "");
    expect(before + (await readToEnd(bench, metadata?.bash_id as string))).toBe("a€b");
  });

  it("is stopped at its timeout, if it has one, and by a cancelled call before it answered", async () => {
    const bench = await Workbench.open();
    const { metadata } = await bench.call("Bash", { command: "sleep 100", yield_ms: 50, timeout: 300 });
    const ended = await bench.call("BashOutput", { bash_id: metadata?.bash_id, wait_for: "exit" });
    expect(ended.metadata).toMatchObject({ status: "timed_out", wait_ended: "exit" });
    const cancel = new AbortController();
    const options = { signal: cancel.signal };
    const call = failure(
      bench.call("Bash", { command: "touch begun; sleep 100", yield_ms: 60_000 }, options),
    );
    await expect.poll(() => existsSync(bench.at("begun"))).toBe(true);
    cancel.abort();
    const error = await call;
    expect(error.code).toBe("CANCELLED");
    expect(processesMarked(`MATRX_JOB=${error.details?.bash_id}`)).toEqual([]);
  });
});

describe("waiting for a command", () => {
  const steps = (count: number) =>
    Array.from(
      { length: count },
      (_, step) => `until [ -e go${step} ]; do sleep 0.02; done; echo ${step}`,
    ).join("; ");

  it("can be for its end, whatever it writes on the way", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, `echo early; ${steps(1)}; exit 4`);
    const waiting = bench.call("BashOutput", { bash_id, wait_for: "exit" });
    await bench.call("BashOutput", { bash_id, wait_ms: 5000 }, { session: bench.newSession() });
    await bench.put("go0", "");
    const { output, metadata } = await waiting;
    expect(output).toBe(`early\n0\n[${bash_id} completed with exit code 4]`);
    expect(metadata?.wait_ended).toBe("exit");
  });

  it("can be for a line that matches, also for a question that does not end its line", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(
      bench,
      `echo ready? no; ${steps(1)}; echo listening on 8080; until [ -e asked ]; do sleep 0.02; done; printf 'Go on? [y/n] '; sleep 100`,
    );
    const listening = bench.call("BashOutput", { bash_id, wait_pattern: "^listening on \\d+$" });
    await bench.put("go0", "");
    expect((await listening).metadata).toMatchObject({ wait_ended: "pattern" });
    expect((await listening).output).toContain("listening on 8080\n");
    await bench.put("asked", "");
    const question = await bench.call("BashOutput", { bash_id, wait_pattern: "\\[y/n\\] $" });
    expect(question.output).toContain("Go on? [y/n] ");
    expect(question.metadata).toMatchObject({
      wait_ended: "pattern",
      status: "running",
      ends_mid_line: true,
    });
  });

  it("can be for a number of bytes", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, `printf 12345; ${steps(1)}; printf 67890; sleep 100`);
    const waiting = bench.call("BashOutput", { bash_id, wait_bytes: 8 });
    await bench.call("BashOutput", { bash_id, wait_ms: 5000 }, { session: bench.newSession() });
    await bench.put("go0", "");
    const { metadata } = await waiting;
    expect(metadata?.wait_ended).toBe("bytes");
    expect(metadata?.log_bytes).toBeGreaterThanOrEqual(8);
  });

  it("says when its time was over, and is refused for two things at once, or a pattern that is none", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, "sleep 100");
    const late = await bench.call("BashOutput", { bash_id, wait_pattern: "never", wait_ms: 60 });
    expect(late.output).toContain("the wait timed out");
    expect(late.metadata?.wait_ended).toBe("time");
    const both = await failure(bench.call("BashOutput", { bash_id, wait_pattern: "x", wait_bytes: 3 }));
    expect(both).toMatchObject({
      code: "INVALID_PARAMETERS",
      details: { fields: ["wait_bytes", "wait_pattern"] },
    });
    const broken = await failure(bench.call("BashOutput", { bash_id, wait_pattern: "(" }));
    expect(broken.details).toEqual({ field: "wait_pattern" });
  });

  it("ends when the call is cancelled, and the command goes on", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, "sleep 100");
    const cancel = new AbortController();
    const call = bench.call("BashOutput", { bash_id, wait_for: "exit" }, { signal: cancel.signal });
    cancel.abort(new Error("cancelled"));
    await expect(call).rejects.toThrow();
    expect((await bench.call("BashOutput", { bash_id })).metadata?.status).toBe("running");
  });
});

describe("a command that is quiet", () => {
  async function quietFor(bench: Workbench, bash_id: string, seconds: number) {
    const when = Date.now() / 1000 - seconds;
    await utimes(`${bench.jobsFolder}/${bash_id}/log`, when, when);
  }

  it("is said to be, and since when; what it wrote last is not taken for a prompt", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, "printf '$ '; sleep 100");
    const first = await bench.call("BashOutput", { bash_id, wait_ms: 5000 });
    expect(first.output).toBe(`$ \n[${bash_id} is running]`);
    expect(first.metadata).toMatchObject({ status: "running", waits_for_keys: false });
    await quietFor(bench, bash_id, 75);
    const later = await bench.call("BashOutput", { bash_id });
    expect(later.output).toMatch(new RegExp(`^\\[${bash_id} is running; no output for \\d+ s\\]$`));
    expect(later.metadata?.quiet_ms).toBeGreaterThan(74_000);
  });

  it("and waits at a terminal is said to seem so", NEEDS_SCRIPT, async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, "script -qec 'echo asked; read x' /dev/null < <(sleep 100)");
    await bench.call("BashOutput", { bash_id, wait_pattern: "asked" });
    await quietFor(bench, bash_id, 10);
    await expect
      .poll(async () => (await bench.call("BashOutput", { bash_id, offset: -1 })).metadata?.waits_for_keys)
      .toBe(true);
    const { output } = await bench.call("BashOutput", { bash_id });
    expect(output).toContain("one of its processes seems to be waiting for input");
  });
});

it("a command that ends while it is looked for whom to signal has ended by itself", async () => {
  const platform = currentPlatform();
  let look = (): Promise<void> => Promise.resolve();
  const members: Platform["processes"]["members"] = async (root) => {
    await look();
    return platform.processes.members(root);
  };
  const bench = await Workbench.open({
    platform: { ...platform, processes: { ...platform.processes, members } },
  });
  const bash_id = await begin(bench, "until [ -e go ]; do sleep 0.02; done; (sleep 100 &); exit 7");
  look = async () => {
    await bench.put("go", "");
    await expect.poll(() => filesOf(bench, "rc")).toEqual(["7\n"]);
    // A file's time may lag behind the clock.
    await sleep(30);
    look = () => Promise.resolve();
  };
  await bench.jobs.find(bash_id, bench.owner).stop("stopped");
  const { metadata } = await bench.call("BashOutput", { bash_id });
  expect(metadata).toMatchObject({ status: "completed", exit_code: 7 });
  expect(processesMarked(`MATRX_JOB=${bash_id}`)).toEqual([]);
});

describe("a restart of the agent", () => {
  it("loses neither a running command nor its output nor its exit code", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(
      bench,
      "echo before; until [ -e go ]; do sleep 0.02; done; echo after; exit 7",
    );
    await bench.call("BashOutput", { bash_id, wait_ms: 5000 });
    await bench.restart();
    expect((await bench.call("BashOutput", { bash_id })).metadata?.status).toBe("running");
    await bench.put("go", "");
    expect(await readToEnd(bench, bash_id)).toBe("after\n");
    expect((await bench.call("BashOutput", { bash_id })).metadata).toMatchObject({
      status: "completed",
      exit_code: 7,
    });
  });

  it("finds a command that ended meanwhile, and can stop one that did not", async () => {
    const bench = await Workbench.open();
    const ended = await begin(bench, "sleep 0.2; echo done; exit 5");
    const running = await begin(bench, "setsid sleep 100 & sleep 100");
    bench.jobs.close();
    await expect.poll(() => existsSync(`${bench.jobsFolder}/${ended}/rc`)).toBe(true);
    await bench.restart();
    expect(await readToEnd(bench, ended)).toBe("done\n");
    const { metadata } = await bench.call("BashOutput", { bash_id: ended });
    expect(metadata).toMatchObject({ status: "completed", exit_code: 5 });
    await bench.call("TaskStop", { task_id: running });
    expect(processesMarked(`MATRX_JOB=${running}`)).toEqual([]);
  });

  it("knows a command that it had begun, and not written down, when it was killed", async () => {
    const bench = await Workbench.open({ platform: killedAfterSpawn() });
    const call = makeCallId();
    const command = "echo before; until [ -e go ]; do sleep 0.02; done; echo after; exit 7";
    void bench.call("Bash", { command, description: "x" }, { call });
    await expect.poll(() => filesOf(bench, "log")).toEqual(["before\n"]);
    await bench.restart();
    const job = bench.jobs.ofCall(call);
    expect(job?.isRunning).toBe(true);
    await bench.put("go", "");
    await job?.ended;
    expect(job?.record).toMatchObject({ status: "completed", exit: 7, description: "x" });
    expect(await readToEnd(bench, job?.id ?? "")).toBe("before\nafter\n");
  });

  it("finds the end of such a command, and can stop one", async () => {
    const bench = await Workbench.open({ platform: killedAfterSpawn(2) });
    const [ended, running] = [makeCallId(), makeCallId()];
    void bench.call("Bash", { command: "touch ended; exit 5" }, { call: ended });
    void bench.call("Bash", { command: "touch running; setsid sleep 100 & sleep 100" }, { call: running });
    const files = ["ended", "running"].map((name) => bench.at(name));
    await expect.poll(() => files.every((file) => existsSync(file))).toBe(true);
    await expect.poll(() => filesOf(bench, "rc")).toEqual(["5\n"]);
    await bench.restart();
    await bench.jobs.ofCall(ended)?.ended;
    expect(bench.jobs.ofCall(ended)?.record).toMatchObject({ status: "completed", exit: 5 });
    const job = bench.jobs.ofCall(running);
    await bench.call("TaskStop", { task_id: job?.id });
    expect(job?.record.status).toBe("stopped");
    expect(processesMarked(`MATRX_JOB=${job?.id}`)).toEqual([]);
  });
});

/** The agent is gone before it learns when the first processes began. */
function killedAfterSpawn(times = 1): Platform {
  const platform = currentPlatform();
  let left = times;
  const beginOf = (pid: number) =>
    left-- > 0 ? new Promise<never>(() => undefined) : platform.processes.beginOf(pid);
  return { ...platform, processes: { ...platform.processes, beginOf } };
}

function filesOf({ jobsFolder }: Workbench, name: string): string[] {
  const files = readdirSync(jobsFolder).map((job) => `${jobsFolder}/${job}/${name}`);
  return files.filter((file) => existsSync(file)).map((file) => readFileSync(file, "utf8"));
}

function endOf(bench: Workbench, bash_id: string) {
  return bench.call("BashOutput", { bash_id, offset: -12 });
}

describe("output that steers a terminal", () => {
  const colours = String.raw`printf '\033[1;31mred\033[0m 10%%\r\033[K50%%\r100%%\n\033[32mErr\033[0mor: x\n'`;
  const raw = "\x1b[1;31mred\x1b[0m 10%\r\x1b[K50%\r100%\n\x1b[32mErr\x1b[0mor: x\n";
  const note = (bash_id: unknown) =>
    `2 states of lines overwritten by \\r left out: BashOutput shows all with raw=true, bash_id "${bash_id}"`;

  it("is left out of answers, and stays in the log, in live output, and in what is read raw", async () => {
    const bench = await Workbench.open();
    const live: string[] = [];
    const output = (_channel: string, _offset: number, data: string) => live.push(data);
    const answer = await bench.call("Bash", { command: colours }, { output });
    const bash_id = answer.metadata?.bash_id;
    expect(answer.output).toBe(`100%\nError: x\n[${note(bash_id)}]`);
    expect(answer.metadata).toMatchObject({ plain: true, start_offset: 0, end_offset: raw.length });
    expect(live.join("")).toBe(raw);
    const again = await bench.call("BashOutput", { bash_id, offset: 0 });
    expect(again.output).toBe(`100%\nError: x\n[${note(bash_id)}; ${bash_id} completed with exit code 0]`);
    expect(again.metadata).toMatchObject({ plain: true, start_offset: 0, end_offset: raw.length });
    const all = await bench.call("BashOutput", { bash_id, offset: 0, raw: true });
    expect(withoutNotes(all.output)).toBe(raw);
    expect(all.metadata?.plain).toBeUndefined();
    expect((await bench.call("Bash", { command: "echo plain" })).metadata?.plain).toBeUndefined();
  });

  it("is left out of the words of a command that failed or goes on", async () => {
    const bench = await Workbench.open();
    const error = await failure(bench.call("Bash", { command: `${colours}; sleep 60`, timeout: 1500 }));
    expect(error.message).toContain("Output so far:\n100%\nError: x\n");
    expect(error.details).toMatchObject({ plain: true });
    const early = await bench.call("Bash", { command: `${colours}; sleep 60`, yield_ms: 1500 });
    expect(early.output).toMatch(/^100%\nError: x\n\[2 states of lines overwritten .*still running/);
  });

  it("does not keep a filter or a wait from finding lines as they are shown, nor a state that was written over", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, `${colours}; until [ -e go ]; do sleep 0.02; done`);
    for (const wait_pattern of ["^Error: x$", "^50%$"]) {
      const { metadata } = await bench.call("BashOutput", { bash_id, wait_pattern, offset: 0 });
      expect(metadata?.wait_ended).toBe("pattern");
    }
    const filtered = await bench.call("BashOutput", { bash_id, filter: "^Error", offset: 0 });
    expect(filtered.output).toMatch(/^Error: x\n\[1 line did not match the filter/);
    await bench.put("go", "");
  });

  it("is not cut within a sequence while the command goes on", async () => {
    const bench = await Workbench.open();
    const begun = String.raw`printf 'a\033[3'; until [ -e go ]; do sleep 0.02; done; printf '1mb\033[0m\n'`;
    const bash_id = await begin(bench, begun);
    const first = await bench.call("BashOutput", { bash_id, wait_ms: 5000 });
    expect(first.output).toMatch(/^a\n\[/);
    expect(first.metadata).toMatchObject({ end_offset: 1 });
    await bench.put("go", "");
    expect(await readToEnd(bench, bash_id)).toBe("b\n");
  });
});

describe("a log", () => {
  const limits = { logHeadBytes: 1000, logTailBytes: 3000, logLiveBytes: 5000, measureEvery: 10 };

  it("that grows too long loses its middle, keeps its offsets, and says the gap", async () => {
    const bench = await Workbench.open({ limits });
    const next = (step: number) => `until [ -e go${step} ]; do sleep 0.02; done`;
    const bash_id = await begin(
      bench,
      `seq 10000 10999; ${next(1)}; seq 11000 11999; ${next(2)}; seq 12000 12999; ${next(3)}`,
    );
    for (const step of [1, 2, 3]) {
      const log = `${bench.jobsFolder}/${bash_id}/log`;
      await expect.poll(async () => (await stat(log)).size).toBe(0);
      await expect.poll(async () => (await endOf(bench, bash_id)).metadata?.log_bytes).toBe(step * 6000);
      await bench.put(`go${step}`, "");
      if (step < 3)
        await expect
          .poll(async () => (await endOf(bench, bash_id)).metadata?.log_bytes)
          .toBe((step + 1) * 6000);
    }
    const head = await bench.call("BashOutput", { bash_id, offset: 0 });
    expect(head.output.startsWith("10000\n10001\n")).toBe(true);
    expect(head.metadata).toMatchObject({ end_offset: 1000, more: true });
    const after = await bench.call("BashOutput", { bash_id, offset: 1000 });
    expect(after.output).toMatch(/^\[14000 bytes were cut from the log here\]\n12500\n/);
    expect(withoutNotes((await endOf(bench, bash_id)).output)).toBe("12998\n12999\n");
    await bench.restart();
    expect(withoutNotes((await endOf(bench, bash_id)).output)).toBe("12998\n12999\n");
  });

  it("goes on after a gap that begins within a character", async () => {
    const bench = await Workbench.open({ limits: { ...limits, logHeadBytes: 1001 } });
    // Written at once, so that it is cut at once.
    const text = "printf '%1000s' | tr ' ' x; printf '\\303\\274'; seq 10000 11999";
    const bash_id = await begin(bench, `{ ${text}; } > text; cat text; until [ -e go ]; do sleep 0.02; done`);
    const log = `${bench.jobsFolder}/${bash_id}/log`;
    // In this order: it is empty before the command writes, and once more when it has been cut.
    await expect.poll(async () => (await endOf(bench, bash_id)).metadata?.log_bytes).toBe(13_002);
    await expect.poll(async () => (await stat(log)).size).toBe(0);
    const offsets: unknown[] = [];
    let offset = 0;
    for (let page = 0; page < 4; page++) {
      const { metadata } = await bench.call("BashOutput", { bash_id, offset });
      offset = metadata?.end_offset as number;
      offsets.push(offset);
    }
    expect(offsets).toEqual([1001, 13_002, 13_002, 13_002]);
    await bench.put("go", "");
  });

  it("of a command that floods stays small, with its beginning and its end", async () => {
    const MiB = 1024 * 1024;
    const bench = await Workbench.open({
      limits: { logHeadBytes: MiB / 16, logTailBytes: MiB / 16, logLiveBytes: MiB, measureEvery: 10 },
    });
    const error = await failure(bench.call("Bash", { command: "echo first; yes", timeout: 1000 }));
    expect(error.details?.end_offset).toBeGreaterThan(10 * MiB);
    expect(error.message).toContain("Output so far:\nfirst\ny\n");
    expect(error.message.endsWith("y\n")).toBe(true);
    const folder = `${bench.jobsFolder}/${error.details?.bash_id}`;
    await expect.poll(async () => (await stat(`${folder}/log`)).size).toBeLessThan(2 * MiB);
    expect((await stat(`${folder}/log.head`)).size).toBe(MiB / 16);
  });

  it("of a finished command is kept for a while: the newest ones", async () => {
    const bench = await Workbench.open({ limits: { finishedKept: 2 } });
    const ids: unknown[] = [];
    for (const n of [1, 2, 3])
      ids.push((await bench.call("Bash", { command: `echo ${n}` })).metadata?.bash_id);
    await expect.poll(() => readdirSync(bench.jobsFolder).sort()).toEqual(ids.slice(1).sort());
    expect((await failure(bench.call("BashOutput", { bash_id: ids[0] }))).code).toBe("NOT_FOUND");
  });
});
