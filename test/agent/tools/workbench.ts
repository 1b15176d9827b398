/** A device in a temporary folder: its tools with real files and real processes, and nothing left behind. */

import { readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeCallId, makeGrantId, makeSessionId } from "@matrx/shared/ids.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import pino from "pino";
import { onTestFinished } from "vitest";
import type { InsideLook, PathLook } from "../../../agent/core/approved-state.ts";
import { Admission, type PathCheck } from "../../../agent/core/gate.ts";
import { parseInput } from "../../../agent/core/input.ts";
import { type Session, Sessions } from "../../../agent/core/sessions.ts";
import type { Tool, ToolContext, ToolResult } from "../../../agent/core/tool.ts";
import { Desktop } from "../../../agent/desktop/desktop.ts";
import { Files } from "../../../agent/fs/access.ts";
import { statesOf } from "../../../agent/fs/path-state.ts";
import { pathsInside } from "../../../agent/fs/paths-inside.ts";
import { Jobs } from "../../../agent/jobs/jobs.ts";
import type { JobLimits } from "../../../agent/jobs/record.ts";
import { Pictures } from "../../../agent/pictures/pictures.ts";
import { currentPlatform } from "../../../agent/platform/current.ts";
import { openByIdentity } from "../../../agent/platform/directory.ts";
import type { Platform } from "../../../agent/platform/platform.ts";
import { OwnPorts } from "../../../agent/ports/own-ports.ts";
import { DomainProxies } from "../../../agent/sandbox/domain-proxies.ts";
import { Sandbox } from "../../../agent/sandbox/sandbox.ts";
import { Terminals } from "../../../agent/terminals/terminals.ts";
import { deviceTools } from "../../../agent/tools/index.ts";
import { Uploads } from "../../../agent/transfers/uploads.ts";
import { removeFolder } from "../../helpers/folder.ts";

/** Both ways of reaching folders: that of this machine, and that of systems without descriptors to walk by. */
export const WAYS = [
  ["by descriptors", currentPlatform()],
  ["by identity", { ...currentPlatform(), openDirectory: openByIdentity }],
] as const;

export interface BenchOptions {
  readonly limits?: Partial<JobLimits>;
  readonly platform?: Platform;
  readonly env?: NodeJS.ProcessEnv;
  /** The clock of unfinished uploads. */
  readonly now?: () => number;
}

export interface CallOptions {
  readonly call?: string;
  readonly session?: Session;
  readonly grant?: GrantScope;
  readonly policy?: Policy;
  readonly relayPolicy?: Policy;
  readonly signal?: AbortSignal;
  readonly output?: ToolContext["output"];
  readonly opensStream?: boolean;
}

export class Workbench {
  /** Where the caller works; canonical. */
  readonly home: string;
  /** What belongs to the agent itself. */
  readonly state: string;
  /** Where its code would be; nothing is there. */
  readonly program: string;
  readonly files: Files;
  readonly desktop: Desktop;
  /** All names lead to this machine, where the servers of tests are. */
  readonly proxies: DomainProxies;
  readonly sandbox: Sandbox;
  readonly sessions: Sessions;
  readonly owner: GrantScope = {
    id: makeGrantId(),
    owner: true,
    effects: ["read", "write", "execute"],
  };
  readonly session: Session;
  readonly checkPaths: PathCheck = (paths, caller) => this.files.check(paths, caller);
  readonly lookAtPaths: PathLook = (paths, caller, signal) => statesOf(this.files, paths, caller, signal);
  readonly lookInside: InsideLook = (states, caller, signal) =>
    pathsInside(this.files, states, caller, signal);
  jobs: Jobs;
  uploads: Uploads;
  terminals: Terminals;
  #tools: readonly Tool[];
  readonly #root: string;
  readonly #options: BenchOptions;

  private constructor(root: string, jobs: Jobs, options: BenchOptions) {
    this.#root = root;
    this.#options = options;
    this.home = path.join(root, "home");
    this.state = path.join(root, "state");
    const { platform = currentPlatform(), env = process.env } = options;
    this.program = path.join(root, "program");
    const protectedPaths = () => ({ closed: [this.state], program: [this.program] });
    const pictures = new Pictures();
    this.files = new Files({ protectedPaths, pictures, platform });
    this.jobs = jobs;
    this.desktop = new Desktop({ platform, env, pictures });
    this.proxies = new DomainProxies(path.join(this.jobsFolder, "network"), RESOLVER);
    this.uploads = this.#openUploads();
    this.sandbox = new Sandbox({ files: this.files, env, home: this.home, proxies: this.proxies });
    this.terminals = this.#openTerminals();
    this.#tools = this.#makeTools();
    this.sessions = new Sessions({ workspace: this.home });
    this.session = this.newSession();
  }

  static async open(options: BenchOptions = {}): Promise<Workbench> {
    const root = await realpath(await mkdtemp(path.join(tmpdir(), "matrx-tools-")));
    await mkdir(path.join(root, "home"));
    const bench = new Workbench(root, await openJobs(root, options), options);
    onTestFinished(() => bench.close());
    return bench;
  }

  get jobsFolder(): string {
    return path.join(this.state, "jobs");
  }

  newSession(grant: GrantScope = this.owner): Session {
    return this.sessions.open(makeSessionId(), grant);
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  tool(name: string): Tool {
    const tool = this.#tools.find((one) => one.name === name);
    if (!tool) throw new Error(`no tool ${name}`);
    return tool;
  }

  /** Calls a tool as the dispatcher does. */
  async call(name: string, input: Record<string, unknown>, options: CallOptions = {}): Promise<ToolResult> {
    return await this.callTool(this.tool(name), input, options);
  }

  /** Whether the tool takes this input. */
  accepts(name: string, input: Record<string, unknown>): boolean {
    try {
      return parseInput(this.tool(name), input) !== undefined;
    } catch {
      return false;
    }
  }

  /** The same of a tool that may not be one of its own. */
  async callTool(tool: Tool, input: Record<string, unknown>, options: CallOptions = {}): Promise<ToolResult> {
    const parsed = parseInput(tool, input);
    const admission = this.admission(options);
    const context = this.context(options, admission);
    const needs = tool.prepare?.(parsed, context);
    if (needs) await admission.check(needs, context.session);
    return await tool.handle(parsed, context);
  }

  /** What a handler gets besides its input. */
  context(options: CallOptions = {}, { rights } = this.admission(options)): ToolContext {
    return {
      call: options.call ?? makeCallId(),
      session: options.session ?? this.session,
      grant: options.grant ?? this.owner,
      rights,
      signal: options.signal ?? new AbortController().signal,
      output: options.output ?? (() => undefined),
      progress: () => undefined,
      room: async () => undefined,
      opensStream: options.opensStream ?? false,
      log: pino({ level: "silent" }),
    };
  }

  /** A call that the gate let in by its tool's name. */
  admission({ grant = this.owner, policy = {}, relayPolicy }: CallOptions = {}): Admission {
    return new Admission({ grant, relayPolicy }, policy, this.checkPaths);
  }

  /** The agent ends and begins again; what runs goes on. */
  async restart(): Promise<void> {
    this.jobs.close();
    this.uploads.close();
    this.jobs = await openJobs(this.#root, this.#options);
    this.uploads = this.#openUploads();
    this.terminals.disconnect();
    this.terminals = this.#openTerminals();
    this.#tools = this.#makeTools();
  }

  #makeTools(): readonly Tool[] {
    const { files, jobs, desktop, sandbox, uploads, terminals } = this;
    return deviceTools({
      files,
      jobs,
      desktop,
      sandbox,
      uploads,
      terminals,
      ownPorts: new OwnPorts({ folders: () => [] }),
    });
  }

  #openUploads(): Uploads {
    const { now } = this.#options;
    const directory = path.join(this.state, "uploads");
    return new Uploads({ directory, platform: this.files.platform, ...(now && { now }) });
  }

  #openTerminals(): Terminals {
    // What the user's own shell does when it starts is none of a test's business.
    const env = { ...(this.#options.env ?? process.env), HOME: this.home, BENCH_ROOT: this.#root };
    return new Terminals({ folder: path.join(this.state, "terminals"), env });
  }

  /** An absolute path below home. */
  at(...names: string[]): string {
    return path.join(this.home, ...names);
  }

  async put(name: string, content: string | Uint8Array): Promise<string> {
    const file = this.at(name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
    return file;
  }

  async close(): Promise<void> {
    await this.jobs.stopAll();
    this.jobs.close();
    this.uploads.close();
    await this.terminals.stopFor("everyone");
    this.terminals.disconnect();
    this.desktop.close();
    await this.sandbox.close();
    await this.proxies.close();
    for (const pid of processesMarked(this.#root)) process.kill(pid, "SIGKILL");
    removeFolder(this.#root);
  }
}

const RESOLVER = {
  resolve: async () => [{ address: "127.0.0.1", family: 4 }],
  isReachable: () => true,
};

function openJobs(root: string, { limits, env, platform = currentPlatform() }: BenchOptions): Promise<Jobs> {
  return Jobs.open({
    directory: path.join(root, "state", "jobs"),
    platform,
    ...(limits && { limits }),
    env: { ...(env ?? process.env), BENCH_ROOT: root },
  });
}

/** Living processes whose environment holds a text. */
export function processesMarked(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => isAlive(pid) && readProc(pid, "environ").includes(text));
}

export function isAlive(pid: number): boolean {
  const stat = readProc(pid, "stat");
  return stat !== "" && !/\) [ZX] /.test(stat);
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}

/** The error that a call ends with. */
export async function failure(
  call: Promise<unknown>,
): Promise<Error & { code: string; hint?: string; details?: Record<string, unknown> }> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error && "code" in error) return error as Awaited<ReturnType<typeof failure>>;
    throw error;
  }
  throw new Error("the call succeeded");
}

/** Runs as a user without root's rights, who may look into home. Who is not root stays who he is. */
export async function asAnotherUser<T>(bench: Workbench, action: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return await action();
  await chmod(path.dirname(bench.home), 0o755);
  await chmod(bench.home, 0o755);
  process.seteuid?.(65_534);
  try {
    return await action();
  } finally {
    process.seteuid?.(0);
  }
}
