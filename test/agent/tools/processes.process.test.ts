/** Real processes, listed and ended. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { darwinProcessList } from "../../../agent/platform/darwin/darwin.ts";
import { linuxProcessList, processorShare } from "../../../agent/platform/linux/process-list.ts";
import { until } from "../../helpers/launcher.ts";
import { needs } from "../../helpers/parts.ts";
import { failure, isAlive, Workbench } from "./workbench.ts";

const NEEDS_PS = needs(existsSync("/bin/ps"), "the list of macOS needs ps: apt-get install procps");

interface Row {
  pid: number;
  ppid: number;
  name: string;
  command: string;
  user: string | null;
  cpu_percent: number;
  memory_bytes: number;
  started: string;
}

const begun = new Set<ChildProcess>();

/** Those that are ended with all that they began. */
const groups = new Set<ChildProcess>();

afterEach(() => {
  for (const child of begun) child.kill("SIGKILL");
  for (const { pid } of groups) if (pid !== undefined) process.kill(-pid, "SIGKILL");
  begun.clear();
  groups.clear();
});

/** Starts a program, and waits for its first word when it has one to say. */
async function begin(
  file: string,
  args: readonly string[],
  { speaks = false, group = false } = {},
): Promise<number> {
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "ignore"], detached: group });
  (group ? groups : begun).add(child);
  await once(child, "spawn");
  if (speaks) await once(child.stdout, "data");
  return child.pid ?? 0;
}

async function rowsOf(bench: Workbench, input: Record<string, unknown>): Promise<Row[]> {
  const { metadata } = await bench.call("ListProcesses", input);
  return metadata?.processes as Row[];
}

async function rowOf(bench: Workbench, pid: number): Promise<Row> {
  const row = (await rowsOf(bench, { limit: 5000 })).find((one) => one.pid === pid);
  if (!row) throw new Error(`${pid} is not listed`);
  return row;
}

describe("ListProcesses", () => {
  it("tells what a process is", async () => {
    const bench = await Workbench.open();
    const before = Date.now();
    const pid = await begin("sleep", ["4242.5"]);
    const row = await rowOf(bench, pid);
    expect(row).toMatchObject({ pid, ppid: process.pid, name: "sleep", command: "sleep 4242.5" });
    expect(row.memory_bytes).toBeGreaterThan(50_000);
    expect(Math.abs(Date.parse(row.started) - before)).toBeLessThan(60_000);
    const { output } = await bench.call("ListProcesses", { filter: "4242.5" });
    expect(output.split("\n")[0]).toMatch(/^PID +PPID +USER +CPU% +MEM MiB +STARTED +COMMAND$/);
    expect(output).toContain("sleep 4242.5");
    expect(output).toContain("[1 of 1 matching processes, ");
  });

  it("tells no more processor time than one thread can use, however many processes there are", async () => {
    const bench = await Workbench.open();
    await begin("sh", ["-c", "for i in $(seq 150); do sleep 4243 & done; echo; wait"], {
      speaks: true,
      group: true,
    });
    const pid = await begin("sh", ["-c", "echo; while :; do :; done"], { speaks: true });
    for (let look = 0; look < 3; look++) {
      // Two readings of a clock that ticks a hundred times a second, at least 200 ms apart.
      expect((await rowOf(bench, pid)).cpu_percent).toBeLessThanOrEqual(110);
    }
    expect((await rowOf(bench, pid)).cpu_percent).toBeGreaterThan(0);
  });

  it.each([
    [{ used: 100, began: 7, at: 0 }, { used: 110, began: 7, at: 200 }, 50],
    [{ used: 100, began: 7, at: 100 }, { used: 150, began: 7, at: 600 }, 100],
    [{ used: 100, began: 7, at: 0 }, { used: 500, began: 8, at: 200 }, 0],
    [undefined, { used: 500, began: 8, at: 200 }, 0],
  ])("tells the time between two readings of the same process: %j, %j", (before, now, share) => {
    expect(processorShare(before, now)).toBe(share);
  });

  it("masks secrets in commands, and keeps one line a row", async () => {
    const bench = await Workbench.open();
    const script = "setTimeout(() => {}, 60000)\n// a second line";
    const turning = "a\u2028b\u202ec\u009bd";
    const secrets = ["--password", "hunter2hunter2", "--api-key=abcdef123456", "TOKEN=zzzzyyyyxxxx"];
    const pid = await begin(process.execPath, ["-e", script, turning, "marked-7c1", ...secrets]);
    const { output, metadata } = await bench.call("ListProcesses", { filter: String(pid) });
    for (const secret of ["hunter2", "abcdef", "zzzz"]) {
      expect(JSON.stringify([output, metadata])).not.toContain(secret);
    }
    expect(output).toMatch(/setTimeout\(\(\) => \{\}, 60000\) \/\/ a second line a\\u2028b\\u202ec\\u009bd/);
    expect(metadata?.processes).toMatchObject([{ name: "node" }]);
    expect(JSON.stringify(metadata)).toContain("marked-7c1 --password [redacted] --api-key=[redacted]");
    expect(output.split("\n")).toHaveLength(3);
    // A masked word cannot be guessed by asking for it.
    expect(await rowsOf(bench, { filter: "hunter2hunter2" })).toEqual([]);
  });

  it("tells the processor time of this moment", async () => {
    const bench = await Workbench.open();
    const idle = await begin("sleep", ["60"]);
    const busy = await begin(process.execPath, ["-e", "for (;;);"]);
    await until("the busy one is seen", async () => (await rowOf(bench, busy)).cpu_percent > 0);
    expect((await rowOf(bench, idle)).cpu_percent).toBe(0);
    const [first] = await rowsOf(bench, { sort: "cpu", limit: 1 });
    expect(first?.cpu_percent).toBeGreaterThan(0);
  });

  it.each(["cpu", "memory", "pid", "name", "started"])(
    "sorts by %s, and says what is left out",
    async (sort) => {
      const bench = await Workbench.open();
      await begin("sleep", ["61"]);
      await begin("sleep", ["62"]);
      const { metadata, output } = await bench.call("ListProcesses", { sort, limit: 2 });
      expect(metadata).toMatchObject({ truncated: true });
      expect(output).toMatch(/\[\d+ more: raise limit, or narrow it with filter\]/);
      const [a, b] = (metadata?.processes ?? []) as [Row, Row];
      const inOrder = {
        cpu: a.cpu_percent >= b.cpu_percent,
        memory: a.memory_bytes >= b.memory_bytes,
        pid: a.pid < b.pid,
        name: a.name.localeCompare(b.name) <= 0,
        started: a.started >= b.started,
      }[sort];
      expect(inOrder).toBe(true);
    },
  );

  it("is told the same by ps, as macOS has it", NEEDS_PS, async () => {
    const pid = await begin("sleep", ["4343"]);
    const [mine, other] = await Promise.all(
      [linuxProcessList, darwinProcessList].map(async (list) =>
        (await list.all()).find((row) => row.pid === pid),
      ),
    );
    // Linux's ps shortens a name of more than 8 characters; macOS's doesn't.
    const shown = mine?.user?.replace(/^(.{7}).{2,}$/, "$1+");
    expect(other).toMatchObject({ pid, parent: process.pid, command: "sleep 4343", user: shown });
    const apart = Math.abs((other?.started ?? 0) - (mine?.started ?? Number.NaN));
    expect(apart).toBeLessThanOrEqual(linuxProcessList.startedWithinMs);
  });

  it("stops looking when the call is cancelled", async () => {
    const bench = await Workbench.open();
    const stop = new AbortController();
    const call = failure(bench.call("ListProcesses", {}, { signal: stop.signal }));
    stop.abort(Object.assign(new Error("cancelled"), { code: "CANCELLED" }));
    expect((await call).code).toBe("CANCELLED");
  });
});

describe("StopProcess", () => {
  it("asks a process to end, and says so", async () => {
    const bench = await Workbench.open();
    const pid = await begin("sleep", ["60"]);
    const { started } = await rowOf(bench, pid);
    const { output, metadata } = await bench.call("StopProcess", { pid, started });
    expect(output).toBe(`Process ${pid} (sleep) was asked to end, and did`);
    expect(metadata).toMatchObject({ pid, how: "terminated", children: [] });
    expect(isAlive(pid)).toBe(false);
  });

  it("kills one that does not listen, and names the children that go on", async () => {
    const bench = await Workbench.open();
    const pid = await begin("bash", ["-c", "trap '' TERM; sleep 60 & echo; while :; do wait; done"], {
      speaks: true,
    });
    const { started } = await rowOf(bench, pid);
    const [child] = (await rowsOf(bench, { limit: 5000 })).filter((row) => row.ppid === pid);
    const { output, metadata } = await bench.call("StopProcess", { pid, started });
    expect(metadata).toMatchObject({ how: "killed", children: [child?.pid] });
    expect(output).toContain(`keep running: ${child?.pid}`);
    expect(isAlive(pid)).toBe(false);
    expect(isAlive(child?.pid ?? 0)).toBe(true);
    process.kill(child?.pid ?? 0, "SIGKILL");
  });

  it("ends nothing when the number belongs to another process now", async () => {
    const bench = await Workbench.open();
    const pid = await begin("sleep", ["60"]);
    const { started } = await rowOf(bench, pid);
    const earlier = new Date(Date.parse(started) - 60_000).toISOString();
    const error = await failure(bench.call("StopProcess", { pid, started: earlier }));
    expect(error).toMatchObject({ code: "CONFLICT", details: { pid } });
    expect(isAlive(pid)).toBe(true);
  });

  it("says that there is no such process", async () => {
    const bench = await Workbench.open();
    const pid = await begin("sleep", ["60"]);
    const { started } = await rowOf(bench, pid);
    await bench.call("StopProcess", { pid, started });
    expect((await failure(bench.call("StopProcess", { pid, started }))).code).toBe("NOT_FOUND");
  });

  it("refuses the agent, what began it, and the system's first process", async () => {
    const bench = await Workbench.open();
    for (const [pid, why] of [
      [process.pid, "it is the agent itself"],
      [process.ppid, "the agent was started by it"],
      [1, "it is the system's first process"],
    ] as const) {
      const { started } = await rowOf(bench, pid);
      const error = await failure(bench.call("StopProcess", { pid, started }));
      expect(error.code).toBe("PERMISSION_DENIED");
      expect(error.message).toContain(why);
    }
  });

  it("refuses other programs of Matrx, known by what is theirs", async () => {
    const bench = await Workbench.open();
    const pid = await begin(process.execPath, [
      "-e",
      "setInterval(() => {}, 1000)",
      `${bench.state}/relay.capnp`,
    ]);
    const { started } = await rowOf(bench, pid);
    const error = await failure(bench.call("StopProcess", { pid, started }));
    expect(error.message).toContain("a Matrx program");
    expect(isAlive(pid)).toBe(true);
  });
});
