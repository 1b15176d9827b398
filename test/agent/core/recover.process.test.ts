/** A command outlives the agent that began it: what became of it is told by the next agent. Real commands, real journal. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { expect, onTestFinished, test } from "vitest";
import type { Outcome } from "../../../agent/core/answers.ts";
import type { CallRequest } from "../../../agent/core/call-request.ts";
import { Dispatcher } from "../../../agent/core/dispatcher.ts";
import { Journal } from "../../../agent/core/journal.ts";
import { fixedTools } from "../../../agent/core/tool-source.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { Workbench } from "../tools/workbench.ts";
import { silentLog } from "./small-tools.ts";

/** An agent without its connection, which `dies` leaves as `kill -9` does: nothing is stopped, nothing is written. */
class Agent {
  readonly bench: Workbench;
  readonly #path: string;
  journal: Journal;
  dispatcher: Dispatcher;

  constructor(bench: Workbench, path: string) {
    this.bench = bench;
    this.#path = path;
    this.journal = new Journal(path);
    this.dispatcher = this.#dispatcher();
  }

  static async start(): Promise<Agent> {
    const agent = new Agent(await Workbench.open(), join(temporaryFolder(), "journal"));
    onTestFinished(() => agent.journal.close());
    return agent;
  }

  /** Begins a call that stays unanswered for ever; resolves when its command runs. */
  async begin(call: string, input: Record<string, unknown>, more: Partial<CallRequest> = {}): Promise<void> {
    void this.dispatcher.run({
      call,
      tool: "Bash",
      input,
      grant: this.bench.owner,
      id: `id-${call}`,
      ...more,
    });
    await expect.poll(() => this.bench.jobs.ofCall(call), { interval: 10 }).toBeDefined();
    await written(this.bench, "pid");
  }

  /** With SQL: the journal lost what was written last. */
  async dies(sql = ""): Promise<void> {
    this.journal.close();
    await this.bench.restart();
    const journal = new DatabaseSync(this.#path);
    journal.exec(sql);
    journal.close();
  }

  /** The next one; gives the outcomes of calls that it took up. */
  async comesBack(): Promise<Promise<Outcome>[]> {
    this.journal = new Journal(this.#path);
    this.dispatcher = this.#dispatcher();
    return this.dispatcher.recover().map(({ outcome }) => outcome);
  }

  #dispatcher(): Dispatcher {
    const { bench, journal } = this;
    return new Dispatcher({
      ...{ device: "box-0123456789", tools: fixedTools(["Bash", "Write"].map((name) => bench.tool(name))) },
      ...{
        sessions: bench.sessions,
        policy: { current: () => ({}) },
        log: silentLog,
        checkPaths: bench.checkPaths,
        lookAtPaths: bench.lookAtPaths,
        lookInside: bench.lookInside,
        journal,
      },
    });
  }
}

function opened({ header, body }: Outcome) {
  return { header, answer: JSON.parse(Buffer.from(body).toString()) as Answer };
}

async function only(outcomes: Promise<Outcome>[]) {
  expect(outcomes).toHaveLength(1);
  return opened((await outcomes[0]) as Outcome);
}

/** A file of the bench, once it is there. */
async function written(bench: Workbench, name: string): Promise<string> {
  const text = () => {
    try {
      return readFileSync(bench.at(name), "utf8");
    } catch {
      return "";
    }
  };
  await expect.poll(text, { interval: 10 }).not.toBe("");
  return text();
}

const SLOW = "cd /; echo out; echo $$ > ~-/pid; until [ -e ~-/go ]; do sleep 0.02; done; exit 3";

test("the end that nobody saw is told, as it would have been", async () => {
  const agent = await Agent.start();
  await agent.begin("a", { command: `${SLOW}` });
  await agent.dies();
  await agent.bench.put("go", "");
  await expect.poll(() => processIsGone(agent.bench), { interval: 10 }).toBe(true);
  const { header, answer } = await only(await agent.comesBack());
  expect(header).toMatchObject({ call: "a", tool: "Bash", status: "success", exit: 3 });
  expect(answer).toMatchObject({ id: "id-a", type: "success", output: "out\n[Exit code 3]" });
  expect(answer.metadata).toMatchObject({ exit_code: 3, status: "completed", cwd: "/" });
  expect(agent.journal.unacknowledged()).toEqual(["a"]);
});

test("a command that still runs is waited for; the key that began it joins", async () => {
  const agent = await Agent.start();
  const key = { key: "k", fingerprint: "f" };
  await agent.begin("a", { command: SLOW }, key);
  await agent.dies();
  const outcomes = await agent.comesBack();
  expect(agent.dispatcher.stateOf("a")).toBe("started");
  const request = { tool: "Bash", input: { command: SLOW }, grant: agent.bench.owner, ...key };
  const joined = agent.dispatcher.run({ ...request, call: "b", id: "id-b" });
  await agent.bench.put("go", "");
  const { answer } = await only(outcomes);
  expect(answer).toMatchObject({ id: "id-a", call: "a", output: "out\n[Exit code 3]" });
  expect(opened(await joined).answer).toEqual({ ...answer, id: "id-b", call: "b" });
});

test("it can be cancelled", async () => {
  const agent = await Agent.start();
  await agent.begin("a", { command: SLOW });
  await agent.dies();
  const outcomes = await agent.comesBack();
  expect(agent.dispatcher.cancel("a")).toBe(true);
  expect((await only(outcomes)).header).toMatchObject({ status: "cancelled", code: "CANCELLED" });
  expect(processIsGone(agent.bench)).toBe(true);
});

test("its deadline goes on", async () => {
  const agent = await Agent.start();
  await agent.begin("a", { command: SLOW });
  await agent.dies(`UPDATE calls SET deadline = ${Date.now() + 100}`);
  expect((await only(await agent.comesBack())).header).toMatchObject({ code: "TIMEOUT" });
  expect(processIsGone(agent.bench)).toBe(true);
});

test("one that was to go on in the background does", async () => {
  const agent = await Agent.start();
  await agent.begin("a", { command: SLOW, run_in_background: true });
  await agent.begin("b", { command: SLOW, yield_ms: 600_000 });
  await agent.dies("UPDATE calls SET state = 'started', finished = NULL, header = NULL, body = NULL");
  const outcomes = (await agent.comesBack()).map(async (outcome) => opened(await outcome).answer);
  expect(await outcomes[0]).toMatchObject({ id: "id-a", metadata: { status: "running" } });
  await agent.bench.put("go", "");
  expect(await outcomes[1]).toMatchObject({ id: "id-b", metadata: { exit_code: 3 } });
});

test("one that was killed with its agent is unknown, with what it had written", async () => {
  const agent = await Agent.start();
  await agent.begin("a", { command: SLOW });
  const job = agent.bench.jobs.ofCall("a");
  await expect.poll(() => job?.log.size(), { interval: 10 }).toBe("out\n".length);
  const { pid } = job?.record ?? {};
  await agent.dies();
  process.kill(-Number(pid), "SIGKILL");
  const { header, answer } = await only(await agent.comesBack());
  expect(header).toMatchObject({ status: "error", code: "OUTCOME_UNKNOWN" });
  expect(answer).toMatchObject({ output: expect.stringContaining("out\n"), hop: "agent" });
  expect(answer.metadata).toMatchObject({ bash_id: expect.any(String), exit_code: null });
});

test("what left nothing to go by is unknown, and never runs again", async () => {
  const agent = await Agent.start();
  await agent.journal.begin("w", "Write", { grant: agent.bench.owner.id });
  await agent.journal.begin("b", "Bash", { grant: agent.bench.owner.id });
  await agent.dies();
  expect(await agent.comesBack()).toEqual([]);
  expect(agent.journal.find("w")?.state).toBe("unknown");
  const again = { call: "b", tool: "Bash", input: { command: "echo x > ran" }, grant: agent.bench.owner };
  expect((await agent.dispatcher.run(again)).header.code).toBe("OUTCOME_UNKNOWN");
});

test("a command that had ended before it was cancelled is not CANCELLED", async () => {
  const agent = await Agent.start();
  const running = agent.dispatcher.run({
    ...{ call: "a", tool: "Bash", grant: agent.bench.owner },
    // What it leaves running holds its output open, so that its end is seen late: as by an agent that was stopped.
    input: { command: "sleep 30 & echo done" },
  });
  await expect.poll(() => agent.bench.jobs.ofCall("a")?.hasLeftExitCode(), { interval: 1 }).toBe(true);
  agent.dispatcher.cancel("a");
  expect(opened(await running)).toMatchObject({
    header: { status: "success", exit: 0 },
    answer: { output: "done\n" },
  });
});

test("nor is one that ended before its time was over", async () => {
  const bench = await Workbench.open();
  const job = await bench.jobs.start({
    ...{ grant: bench.owner.id, owner: true, command: "sleep 30 & exit 4" },
    ...{ cwd: bench.home, background: false },
  });
  await expect.poll(() => job.hasLeftExitCode(), { interval: 1 }).toBe(true);
  await job.stop("timed_out");
  expect(job.record).toMatchObject({ status: "completed", exit: 4 });
});

function processIsGone(bench: Workbench): boolean {
  try {
    process.kill(Number(readFileSync(bench.at("pid"), "utf8")), 0);
    return false;
  } catch {
    return true;
  }
}
