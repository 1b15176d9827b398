/** At the machine: `matrx activity`, `pause` and `resume`, beside a real agent that serves its tools here. */
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { startControlServer } from "../../../agent/control/server.ts";
import { MATRX_BIN } from "../../../scripts/matrx-bin.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { silentLog } from "../core/small-tools.ts";
import { lineOf, runMatrx, startMatrx } from "./matrx.ts";

const PATIENCE = { timeout: 90_000 };

/** Starts `matrx serve` in this home. */
async function startAgent(home: string) {
  const child = startMatrx(["serve", "--port", "0", "--json"], { home });
  const { url } = await lineOf(child, ({ url }) => typeof url === "string");
  const headers = {
    Authorization: `Bearer ${readFileSync(join(home, "local-token"), "utf8").trim()}`,
    "Content-Type": "application/json",
  };
  const call = async (tool: string, input: object) => {
    const response = await fetch(`${url}/tools/invoke`, {
      ...{ method: "POST", headers, body: JSON.stringify({ tool, input }) },
    });
    return (await response.json()) as { type: string; code?: string; output: string; metadata: object };
  };
  const end = async (signal: NodeJS.Signals) => {
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  };
  return { call, end };
}

/** Follows `matrx activity --json`. */
async function watch(home: string) {
  const child = startMatrx(["activity", "--json", "-n", "0"], { home });
  if (!child.stdout || !child.stderr) throw new Error("no output");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await once(child.stderr, "data");
  return {
    child,
    /** The next entry of this type. */
    async next(type: string): Promise<Record<string, unknown>> {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`activity ended without ${type}`);
        const entry = JSON.parse(value) as Record<string, unknown>;
        if (entry.type === type) return entry;
      }
    },
  };
}

async function matrx(home: string, ...args: string[]) {
  const { code, stdout } = await runMatrx([...args, "--json"], { home });
  expect(code).toBe(0);
  return JSON.parse(stdout) as Record<string, unknown>;
}

test("pause stops what runs, stays over restarts and kills, and resume opens", PATIENCE, async () => {
  const home = temporaryFolder();
  const first = await startAgent(home);
  const seen = await watch(home);
  const marker = join(temporaryFolder(), "marker");
  const loop = `while :; do echo >> ${marker}; sleep 0.05; done`;
  const job = await first.call("Bash", { command: loop, run_in_background: true });
  expect(job.type).toBe("success");
  await seen.next("finished");
  const running = first.call("Bash", { command: "sleep 300" });
  await seen.next("started");
  expect(await matrx(home, "pause")).toEqual({
    ...{ paused: "everyone", running: true, stopped: { calls: 1, jobs: 1 } },
  });
  expect(await running).toMatchObject({
    code: "CANCELLED",
    output: expect.stringContaining("paused by its user"),
  });
  const written = readFileSync(marker, "utf8");
  const closed = { code: "PERMISSION_DENIED", metadata: { reason: "PAUSED", paused: "everyone" } };
  expect(await first.call("SystemInfo", {})).toMatchObject(closed);
  expect(readFileSync(marker, "utf8")).toBe(written);
  expect(await seen.next("paused")).toMatchObject({ paused: "everyone" });
  expect(await seen.next("refused")).toMatchObject({ tool: "SystemInfo", surface: "local" });

  await first.end("SIGKILL");
  const second = await startAgent(home);
  expect(await second.call("SystemInfo", {})).toMatchObject(closed);
  expect(await matrx(home, "resume")).toEqual({ paused: null, running: true });
  expect(await second.call("SystemInfo", {})).toMatchObject({ type: "success" });
  // The watcher has found the next agent.
  await seen.next("resumed");
  await second.end("SIGTERM");
  expect(readdirSync(join(home, "control"))).toEqual([]);
  const ended = once(seen.child, "exit");
  seen.child.kill("SIGINT");
  expect(await ended).toEqual([0, null]);
});

test(
  "a pause without an agent holds for the next one, which stops what was left running",
  PATIENCE,
  async () => {
    const home = temporaryFolder();
    const first = await startAgent(home);
    const pidFile = join(temporaryFolder(), "pid");
    await first.call("Bash", { command: `echo $$ > ${pidFile}; exec sleep 300`, run_in_background: true });
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, "utf8")).toMatch(/\d+\n/);
    const pid = Number(readFileSync(pidFile, "utf8"));
    await first.end("SIGKILL");
    expect(await matrx(home, "pause")).toMatchObject({ paused: "everyone", running: false });
    expect(() => process.kill(pid, 0)).not.toThrow();
    const second = await startAgent(home);
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(await second.call("SystemInfo", {})).toMatchObject({ code: "PERMISSION_DENIED" });
    const doctor = JSON.parse((await runMatrx(["doctor", "--json"], { home })).stdout);
    expect(doctor.machine).toContainEqual(expect.objectContaining({ name: "pause", state: "missing" }));
  },
);

test("a pause for AI leaves the owner's programs alone, and none of them can lift it", PATIENCE, async () => {
  const home = temporaryFolder();
  const agent = await startAgent(home);
  expect(await matrx(home, "pause", "--ai")).toMatchObject({ paused: "ai" });
  expect(await agent.call("SystemInfo", {})).toMatchObject({ type: "success" });
  const file = join(home, "pause.json");
  for (const [tool, input] of [
    ["Delete", { path: file }],
    ["Write", { file_path: file, content: '{"paused":"ai"}' }],
    ["Move", { source: file, destination: join(temporaryFolder(), "away") }],
    ["Read", { file_path: join(home, "control", "local.sock") }],
  ] as const) {
    expect(await agent.call(tool, input), tool).toMatchObject({ code: "PERMISSION_DENIED" });
  }
  const command = `MATRX_HOME=${home} '${process.execPath}' ${MATRX_BIN} resume`;
  expect(await agent.call("Bash", { command })).toMatchObject({
    output: expect.stringContaining("callers cannot end a pause"),
  });
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ paused: "ai" });
  // A file that somebody damaged closes the machine to everyone, within a moment.
  writeFileSync(file, "{");
  await expect.poll(() => agent.call("SystemInfo", {})).toMatchObject({ code: "PERMISSION_DENIED" });
});

test("activity shows what was, for people", PATIENCE, async () => {
  const home = temporaryFolder();
  const none = await runMatrx(["activity"], { home });
  expect(none).toMatchObject({ code: 69, stderr: expect.stringContaining("No agent is running") });
  expect(await runMatrx(["activity", "-n", "201"], { home })).toMatchObject({ code: 64 });
  const agent = await startAgent(home);
  await agent.call("Bash", { command: "echo 'token=abcdefgh1234'; printf '\\033[31mred\\n'; exit 3" });
  await agent.call("Read", { file_path: "/nonexistent/file", password: "open sesame" });
  await matrx(home, "pause", "--ai");
  const { code, stdout } = await runMatrx(["activity", "--no-follow"], { home });
  expect(code).toBe(0);
  expect(stdout).toMatch(/this machine {2}Bash {2}command="echo/);
  expect(stdout).toMatch(/this machine {2}Bash {2}done in \d+ ms, exit code 3\n {2}token=\[redacted\]/);
  expect(stdout).toMatch(/this machine {2}Read .*\n {2}refused: INVALID_PARAMETERS/);
  expect(stdout).toMatch(/Paused: closed to AI grants\n$/);
  expect(stdout).not.toMatch(/abcdefgh|sesame/);
  expect(stdout).not.toContain("\u001b");
  const last = await runMatrx(["activity", "--no-follow", "-n", "1"], { home });
  expect(last.stdout.split("\n")).toHaveLength(2);
});

test("where no socket can be, pause and resume work by their file", PATIENCE, async () => {
  const home = join(temporaryFolder(), "a-long-name".repeat(10));
  mkdirSync(home);
  const agent = await startAgent(home);
  const typeOfAnswer = async () => (await agent.call("SystemInfo", {})).type;
  const soon = { interval: 100, timeout: 30_000 };
  const { code, stdout, stderr } = await runMatrx(["pause"], { home });
  expect(code).toBe(0);
  expect(stdout).toContain("Paused: this machine is closed to all callers.");
  expect(stderr).toContain("too long for a socket, so a running agent could not be told");
  expect(stderr).not.toContain("No agent is running");
  await expect.poll(typeOfAnswer, soon).toBe("error");
  expect(await matrx(home, "resume")).toEqual({ paused: null, running: null });
  await expect.poll(typeOfAnswer, soon).toBe("success");
});

test("activity shows what each of two agents did before", PATIENCE, async () => {
  const home = temporaryFolder();
  const agent = await startAgent(home);
  // What an agent that connects to a relay serves.
  const other = await startControlServer({
    ...{ folder: join(home, "control"), name: "agent", log: silentLog },
    routes: [
      (app) =>
        void app.get("/activity", async (c) => {
          await agent.call("SystemInfo", {});
          return c.text(`${JSON.stringify({ type: "connected", at: new Date().toISOString() })}\n`);
        }),
    ],
  });
  onTestFinished(() => other.close());
  await agent.call("Bash", { command: "true" });
  const { stdout } = await runMatrx(["activity", "--no-follow", "--json"], { home });
  const types = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).type);
  expect(types.sort()).toEqual(expect.arrayContaining(["connected", "finished", "started"]));
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
