/** One job: a command that runs, or has run, and its log. */
import { isUtf8 } from "node:buffer";
import { rm, stat } from "node:fs/promises";
import path from "node:path";
import { markOf } from "../platform/environment.ts";
import { stopTree } from "../platform/kill-tree.ts";
import type { Platform } from "../platform/platform.ts";
import { PATH_MAX } from "../platform/posix.ts";
import type { ProcessTable } from "../platform/processes.ts";
import { JobLog } from "./log.ts";
import { type JobLimits, type JobRecord, type JobStatus, saveRecord } from "./record.ts";
import { smallFile } from "./small-file.ts";
import { STDIN_FILE } from "./spawn.ts";

type StopReason = Extract<JobStatus, "stopped" | "cancelled" | "timed_out">;

/** Times of files may lag behind the clock by this much, in milliseconds. */
const FILE_CLOCK = 20;

/** An exit code and the end of its line, in bytes. */
const EXIT_BYTES = 16;

/** What a confined command's sandbox reads at its start. */
const INHERITED = ["fd-4", "fd-6", "fd-7", "fd-9"];

export class Job {
  readonly directory: string;
  readonly log: JobLog;
  readonly #platform: Platform;
  readonly #limits: JobLimits;
  readonly #ended = Promise.withResolvers<void>();
  #record: JobRecord;
  #stopReason: StopReason | undefined;
  /** When its processes were signalled first, in milliseconds since 1970. */
  #signalledAt: number | undefined;
  /** Set while the processes are being ended. */
  #ending: Promise<number[]> | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(directory: string, record: JobRecord, platform: Platform, limits: JobLimits) {
    this.directory = directory;
    this.#record = record;
    this.#platform = platform;
    this.#limits = limits;
    this.log = new JobLog(directory, record.log, limits);
    if (record.status !== "running") this.#ended.resolve();
    else if (record.deadline !== null) this.#startDeadline(record.deadline);
  }

  get id(): string {
    return this.#record.id;
  }

  get record(): Readonly<JobRecord> {
    return this.#record;
  }

  get isRunning(): boolean {
    return this.#record.status === "running";
  }

  /** Resolves when the command has ended and its output is in the log. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** The command's directory when it ended; undefined if not known, such as after `exec` or a kill. */
  async lastCwd(): Promise<string | undefined> {
    const bytes = await smallFile(path.join(this.directory, "cwd"), PATH_MAX);
    // Later commands could not name a folder whose name is not UTF-8.
    if (!bytes || !isUtf8(bytes)) return undefined;
    const last = bytes.toString("utf8").replace(/\r?\n$/, "");
    return this.#platform.path.isAbsolute(last) ? last : undefined;
  }

  /**
   * Ends the command and every process that it started, within `TIMES.killAfter`. Resolves with those that could not be
   * ended. If the command has already ended, ends what it left running, and the command's own exit counts.
   */
  async stop(reason: StopReason): Promise<number[]> {
    if (!(await this.hasLeftExitCode())) this.#stopReason ??= reason;
    this.#ending ??= stopTree(this.#signalled(), this.#root(), this.#limits.stopGrace);
    const left = await this.#ending;
    this.#ending = undefined;
    // Do not wait for processes that not even a kill ends.
    if (left.length > 0) await this.settle(null);
    await this.ended;
    return left;
  }

  /** Live processes of the job, including those that it left behind. */
  processes(): Promise<number[]> {
    return this.#platform.processes.members(this.#root());
  }

  /** Whether one of its processes seems to wait for input at a terminal that the command opened. */
  async waitsForKeys(): Promise<boolean> {
    return await this.#platform.processes.waitForKeys(await this.processes());
  }

  /** The command has ended: takes its exit code from the file that it left, else from the process. */
  async settle(exitOfProcess: number | null): Promise<void> {
    const exit = (await this.#exitFile()) ?? exitOfProcess;
    // The command may end before other processes that it started.
    await this.#ending;
    const stopReason = (await this.#endedUnsignalled()) ? undefined : this.#stopReason;
    if (!this.isRunning) return;
    clearTimeout(this.#deadline);
    const status = stopReason ?? (exit === null ? "lost" : "completed");
    this.#record = { ...this.#record, status, exit, ended: Date.now(), log: this.log.shape };
    try {
      await this.save();
      for (const file of ["command", STDIN_FILE, ...INHERITED])
        await rm(path.join(this.directory, file), { force: true });
    } catch {
      // A full disk must not keep a job from ending; after a restart its exit code is read from its own file.
    }
    this.#ended.resolve();
  }

  /** The exit code that the command left, once it has ended. */
  async #exitFile(): Promise<number | null> {
    const text = (await smallFile(path.join(this.directory, "rc"), EXIT_BYTES))?.toString("latin1") ?? "";
    return /^-?\d+\s+$/.test(text) ? Number(text) : null;
  }

  /** Whether it ended by itself before a signal was sent: finding the processes to signal takes a while. */
  async #endedUnsignalled(): Promise<boolean> {
    if (!(await this.hasLeftExitCode())) return false;
    const { mtimeMs } = await stat(path.join(this.directory, "rc"));
    return mtimeMs < (this.#signalledAt ?? Number.POSITIVE_INFINITY) - FILE_CLOCK;
  }

  #signalled(): ProcessTable {
    const { processes } = this.#platform;
    const signal: ProcessTable["signal"] = (...args) => {
      this.#signalledAt ??= Date.now();
      return processes.signal(...args);
    };
    return { ...processes, signal };
  }

  async hasLeftExitCode(): Promise<boolean> {
    return (await this.#exitFile()) !== null;
  }

  /** Keeps the log within its limit. */
  async cutLog(): Promise<void> {
    if (!(await this.log.cut())) return;
    this.#record = { ...this.#record, log: this.log.shape };
    await this.save();
  }

  save(): Promise<void> {
    return saveRecord(this.directory, this.#record);
  }

  /** Stops watching; the command continues. */
  release(): void {
    clearTimeout(this.#deadline);
  }

  #root() {
    const { pid, began, id } = this.#record;
    return { pid, began, mark: markOf(id) };
  }

  #startDeadline(deadline: number): void {
    this.#deadline = setTimeout(
      () => void this.stop("timed_out").catch(() => undefined),
      Math.max(0, deadline - Date.now()),
    );
    this.#deadline.unref();
  }
}
