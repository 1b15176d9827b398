/** The jobs of this device: started, found again after a restart, stopped, and forgotten after some time. */
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { toolError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { isClosedTo, type Paused } from "@matrx/shared/paused.ts";
import { previewOf } from "@matrx/shared/redact.ts";
import { currentPlatform } from "../platform/current.ts";
import { markedEnvironment, markOf } from "../platform/environment.ts";
import { stopTree } from "../platform/kill-tree.ts";
import { loginEnvironment } from "../platform/login-environment.ts";
import type { Platform, Wrap } from "../platform/platform.ts";
import { makePrivateFolder } from "../platform/private-file.ts";
import { toolName } from "../text/tool-names.ts";
import { Job } from "./job.ts";
import { JOB_LIMITS, type JobLimits, type JobRecord, loadRecord, makeJobId, saveRecord } from "./record.ts";
import { confinedRun, type Run, STDIN_FILE, type Started, startCommand } from "./spawn.ts";

export interface JobsOptions {
  /** The folder of logs and records: below the agent's state, closed to all other tools. */
  readonly directory: string;
  readonly platform?: Platform;
  readonly limits?: Partial<JobLimits>;
  /** The agent's own environment. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface Command {
  readonly grant: GrantId;
  /** Whether that grant is the owner's. */
  readonly owner: boolean;
  /** The call that it answers. */
  readonly call?: string | undefined;
  /** Milliseconds until the call is answered even if the command is still running; absent: when the command ends. */
  readonly answerMs?: number | undefined;
  readonly command: string;
  readonly description?: string | undefined;
  readonly cwd: string;
  readonly background: boolean;
  /** Whether it runs where it can change nothing, and ends with its call. */
  readonly readOnly?: boolean;
  /** Milliseconds until the command is stopped; absent: never. */
  readonly timeoutMs?: number | undefined;
  /** What it reads from stdin; absent: nothing. */
  readonly stdin?: Uint8Array | undefined;
  /** Puts a sandbox around it; absent: it runs free. */
  readonly confine?: Wrap | undefined;
}

/** Stands for a process that may not have started: no process has this pid, so only the job's mark identifies its processes. */
const NOT_NOTED = { pid: -1, began: "0" } as const;
/** How many characters of a command are recorded. */
const COMMAND_SHOWN = 200;

export class Jobs {
  readonly #directory: string;
  readonly #platform: Platform;
  readonly #limits: JobLimits;
  readonly #env: NodeJS.ProcessEnv;
  readonly #jobs = new Map<string, Job>();
  readonly #closing = new AbortController();
  #measuring: NodeJS.Timeout | undefined;

  private constructor({ directory, platform = currentPlatform(), limits, env = process.env }: JobsOptions) {
    this.#directory = directory;
    this.#platform = platform;
    this.#limits = { ...JOB_LIMITS, ...limits };
    this.#env = env;
  }

  /** Creates the folder, and finds jobs of an earlier run of the agent; those still running are watched again. */
  static async open(options: JobsOptions): Promise<Jobs> {
    const jobs = new Jobs(options);
    makePrivateFolder(options.directory);
    await jobs.#recover();
    return jobs;
  }

  /** Throws MatrxError. */
  async start(command: Command): Promise<Job> {
    this.#checkRoom(command.grant);
    const id = makeJobId();
    const directory = path.join(this.#directory, id);
    await mkdir(directory, { mode: 0o700 });
    try {
      await writeFile(path.join(directory, "command"), command.command, { mode: 0o600 });
      await writeFile(path.join(directory, "log"), "", { mode: 0o600 });
      if (command.stdin) await writeFile(path.join(directory, STDIN_FILE), command.stdin, { mode: 0o600 });
      // Recorded before it runs, so that after any crash the next agent knows of it.
      const record = recordOf(id, command);
      await saveRecord(directory, record);
      const readsStdin = command.stdin !== undefined;
      const started = await startCommand({
        ...(await this.#runOf(id, directory, command)),
        directory,
        readsStdin,
      });
      try {
        return await this.#begun(directory, record, started);
      } catch (error) {
        await stopTree(this.#platform.processes, { pid: started.pid, began: "", mark: markOf(id) }, 0);
        throw error;
      }
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }

  /** What rules are matched with in a command that a job would run. */
  subjects(command: string): string[] {
    return this.#platform.shell(this.#env, existsSync).subjects(command);
  }

  async #runOf(id: string, directory: string, { cwd, confine }: Command): Promise<Run> {
    if (confine) return confinedRun(this.#platform, { id, directory, wrap: confine });
    const shell = this.#platform.shell(this.#env, existsSync);
    const env = { ...(await loginEnvironment(this.#env)), ...markedEnvironment(id) };
    return { shell, args: shell.argumentsFor(directory), cwd, env };
  }

  /** A job that a grant may see: its own, or any for the owner. Throws MatrxError `NOT_FOUND`. */
  find(id: string, grant: Pick<GrantScope, "id" | "owner">): Job {
    const job = this.#jobs.get(id);
    if (job && (grant.owner || job.record.grant === grant.id)) return job;
    throw toolError("NOT_FOUND", `No job ${id.slice(0, 64)}`, {
      hint: `Use the id that ${toolName("Bash")} returned; finished jobs are kept for a day at most`,
      details: { job: id.slice(0, 64) },
    });
  }

  /** The job that a call started. */
  ofCall(call: string): Job | undefined {
    return [...this.#jobs.values()].find(({ record }) => record.call === call);
  }

  /** Stops all running jobs of some grants. */
  async endOf(isMeant: (grant: string) => boolean): Promise<void> {
    const own = this.#running().filter(({ record }) => isMeant(record.grant));
    await Promise.all(own.map((job) => job.stop("cancelled")));
  }

  /** Stops the running jobs of those whom a pause concerns; resolves with the calls that started them. */
  async stopFor(paused: Paused): Promise<readonly string[]> {
    const concerned = this.#running().filter(({ record: { owner = true } }) => isClosedTo(paused, { owner }));
    await Promise.all(concerned.map((job) => job.stop("cancelled")));
    return concerned.map(({ id, record: { call = id } }) => call);
  }

  /** Stops every job. */
  async stopAll(): Promise<void> {
    await Promise.all(this.#running().map((job) => job.stop("stopped")));
  }

  /** Stops watching. Running jobs continue, and the next `open` finds them again. */
  close(): void {
    this.#closing.abort();
    clearInterval(this.#measuring);
    for (const job of this.#jobs.values()) job.release();
  }

  async #begun(directory: string, beginning: JobRecord, started: Started): Promise<Job> {
    const { pid } = started;
    const began = (await this.#platform.processes.beginOf(pid)) ?? "ended at once";
    const record = { ...beginning, pid, began };
    const job = new Job(directory, record, this.#platform, this.#limits);
    await job.save();
    this.#jobs.set(record.id, job);
    this.#measure();
    this.#closing.signal.addEventListener("abort", () => started.release(), { once: true });
    void this.#watch(job, started);
    return job;
  }

  async #watch(job: Job, started: Started): Promise<void> {
    await started.commandEnded;
    if (this.#closing.signal.aborted) return;
    // Processes that the command left running keep its output open; do not wait for them.
    const drained = new AbortController();
    const exit = await Promise.race([
      started.allEnded,
      sleep(this.#limits.drain, null, { signal: drained.signal }).catch(() => null),
    ]);
    drained.abort();
    await job.settle(exit);
    await this.#prune().catch(() => undefined);
  }

  async #recover(): Promise<void> {
    for (const name of await readdir(this.#directory)) {
      const directory = path.join(this.#directory, name);
      const record = await loadRecord(directory);
      if (!record || record.id !== name) {
        await rm(directory, { recursive: true, force: true });
        continue;
      }
      const job = new Job(directory, record, this.#platform, this.#limits);
      this.#jobs.set(record.id, job);
      if (!job.isRunning || (await this.#settleIfGone(job))) continue;
      void this.#adopt(job).catch(() => undefined);
      // Its call ended with the earlier agent, and is made again.
      if (record.read_only) void job.stop("cancelled").catch(() => undefined);
    }
    this.#measure();
    await this.#prune();
  }

  /** Watches a job that is not a child of this process. */
  async #adopt(job: Job): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await sleep(this.#limits.adoptedLookEvery, null, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted || (await this.#settleIfGone(job))) return;
      if (!(await job.hasLeftExitCode())) continue;
      // The command has ended, but processes that it left running keep its output open.
      await sleep(this.#limits.drain, null, { signal }).catch(() => undefined);
      if (!signal.aborted) await job.settle(null);
      return;
    }
  }

  async #settleIfGone(job: Job): Promise<boolean> {
    if (await this.#isAlive(job)) return false;
    await job.settle(null);
    return true;
  }

  async #isAlive(job: Job): Promise<boolean> {
    const { pid, began } = job.record;
    if (pid !== NOT_NOTED.pid) return (await this.#platform.processes.beginOf(pid)) === began;
    return (await job.processes()).length > 0;
  }

  #running(): Job[] {
    return [...this.#jobs.values()].filter((job) => job.isRunning);
  }

  #measure(): void {
    this.#measuring ??= setInterval(() => void this.#measureAll(), this.#limits.measureEvery).unref();
  }

  async #measureAll(): Promise<void> {
    const running = this.#running();
    if (running.length === 0) {
      clearInterval(this.#measuring);
      this.#measuring = undefined;
    }
    for (const job of running) await job.cutLog().catch(() => undefined);
  }

  #checkRoom(grant: GrantId): void {
    const running = this.#running().filter(({ record }) => record.grant === grant);
    if (running.length < this.#limits.runningPerGrant) return;
    throw toolError(
      "RATE_LIMITED",
      `${running.length} commands are already running, the most one token may run at once`,
      {
        hint: `Wait for one to end, or stop one with ${toolName("TaskStop")}`,
        details: { limit: this.#limits.runningPerGrant, jobs: running.map((job) => job.id) },
      },
    );
  }

  /** Deletes finished jobs, oldest first, when they are too old, too many, or too large together. Never the newest. */
  async #prune(): Promise<void> {
    const finished = [...this.#jobs.values()].filter((job) => !job.isRunning);
    finished.sort((a, b) => endOf(b) - endOf(a));
    const { finishedKept, finishedBytes, finishedKeptFor } = this.#limits;
    let bytes = 0;
    for (const [index, job] of finished.entries()) {
      bytes += (await job.log.size().catch(() => 0)) - job.log.cutBytes;
      const tooOld = Date.now() - endOf(job) > finishedKeptFor;
      const fits = index < finishedKept && bytes <= finishedBytes && !tooOld;
      if (fits || index === 0) continue;
      this.#jobs.delete(job.id);
      await rm(job.directory, { recursive: true, force: true });
    }
  }
}

function recordOf(id: string, command: Command): JobRecord {
  const now = Date.now();
  return {
    id,
    grant: command.grant,
    owner: command.owner,
    ...(command.call !== undefined && { call: command.call }),
    ...(command.answerMs !== undefined && { answer_by: now + command.answerMs }),
    command: previewOf(command.command, COMMAND_SHOWN),
    ...(command.description !== undefined && { description: previewOf(command.description) }),
    cwd: command.cwd,
    background: command.background,
    ...(command.readOnly && { read_only: true as const }),
    started: now,
    ended: null,
    deadline: command.timeoutMs === undefined ? null : now + command.timeoutMs,
    ...NOT_NOTED,
    status: "running",
    exit: null,
    log: { base: 0, headBytes: 0, tailBytes: 0 },
  };
}

function endOf(job: Job): number {
  return job.record.ended ?? 0;
}
