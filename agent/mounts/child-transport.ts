/** An MCP server as a child process: in a group of its own, ended with everything that it started. */
import type { ChildProcess } from "node:child_process";
import { isAbsolute } from "node:path";
import { setImmediate } from "node:timers/promises";
import { TIMES } from "@matrx/shared/limits.ts";
import { oneLine } from "@matrx/shared/one-line.ts";
import { TokenBucket } from "@matrx/shared/rate-limit.ts";
import { isJSONRPCNotification, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import type { Result } from "execa";
import type { Logger } from "pino";
import type { StdioSettings } from "../config/mount-settings.ts";
import { currentPlatform } from "../platform/current.ts";
import { markedEnvironment, markOf } from "../platform/environment.ts";
import { stopTree } from "../platform/kill-tree.ts";
import { withOpenFiles } from "../platform/open-files.ts";
import { SYSTEM_PATH } from "../platform/posix.ts";
import { findProgram, loadStarter } from "../platform/run-program.ts";
import type { ConfineServer } from "./confine.ts";
import { MessageReader } from "./message-reader.ts";

/** Time to end by itself once nobody writes to it any more, in milliseconds. */
const LEAVES_WITHIN = 500;
const LINE_CHARS = 300;
/** Lines of its own that are logged. */
const LINES = { burst: 50, everyMs: 200 };
/** Bytes that wait to be read by it before a call is refused. */
const WAITING_BYTES = 16 * 1024 * 1024;

export interface ChildOptions {
  readonly settings: StdioSettings;
  /** Identifies its processes, also those left behind by an earlier run of this program. */
  readonly mark: string;
  readonly env: NodeJS.ProcessEnv;
  /** Where it runs, unless its settings say otherwise. */
  readonly runIn: string;
  readonly confine: ConfineServer;
  readonly log: Logger;
}

export class ChildTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: (<Message extends JSONRPCMessage>(message: Message) => void) | undefined;
  /** By this and `pid`, the client library knows a program, which may not answer what it does not know. */
  readonly stderr = null;
  readonly #options: ChildOptions;
  readonly #lines = new TokenBucket(LINES, performance.now());
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();
  #began = "";
  #ending: Promise<void> | undefined;
  #why: string | undefined;

  constructor(options: ChildOptions) {
    this.#options = options;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Why it ended, if it did by itself. */
  get why(): string | undefined {
    return this.#why;
  }

  async start(): Promise<void> {
    const { file, args, env, cwd, extra } = await programOf(this.#options);
    // It finds what Windows calls npx.cmd.
    const { execa } = await loadStarter();
    if (this.#ending !== undefined) throw new Error("closed");
    const child = execa(file, args, {
      ...{ env, extendEnv: false, cwd },
      detached: process.platform !== "win32",
      cleanup: false,
      stdio: ["pipe", "pipe", "pipe", ...extra],
      buffer: false,
      reject: false,
      windowsHide: true,
    });
    this.#child = child as unknown as ChildProcess;
    this.#exited = child.then((result) => {
      if (this.#ending === undefined) this.#why ??= endOf(result);
      this.#ended();
    });
    const reader = new MessageReader({
      onGarbage: (line) => this.#note("wrote no message", line),
      onUseless: (why) => {
        this.#why ??= why;
        void this.close();
      },
    });
    void this.#receive(child.stdout, reader);
    child.stderr.on("data", (chunk: Buffer) => this.#stderr(chunk));
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => undefined);
    if (child.pid === undefined) {
      await this.#exited;
      throw new Error(this.#why);
    }
    this.#began = (await currentPlatform().processes.beginOf(child.pid)) ?? "";
  }

  /** Reads no faster than what comes is handled. */
  async #receive(stdout: AsyncIterable<Buffer>, reader: MessageReader): Promise<void> {
    try {
      for await (const chunk of stdout) {
        if (this.#ending !== undefined) continue;
        for (const message of reader.read(chunk)) {
          this.onmessage?.(message);
          // The library handles notifications a little later: an answer must not overtake them.
          if (isJSONRPCNotification(message)) await setImmediate();
        }
      }
    } catch {
      // It is over when the process is.
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable || this.#ending !== undefined) throw new Error("it is not running");
    if (stdin.writableLength > WAITING_BYTES) throw new Error("it does not read what it is sent");
    stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Ends it and everything that it started. */
  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child?.pid !== undefined) {
      child.stdin?.end();
      await Promise.race([this.#exited, later(LEAVES_WITHIN)]);
      await endProcesses(this.#options.mark, child.pid, this.#began);
      child.stdout?.destroy();
      child.stderr?.destroy();
      await this.#exited;
    }
    this.onclose?.();
  }

  /** It ended by itself: what it started is ended too. */
  #ended(): void {
    if (this.#child?.pid !== undefined) void this.close();
  }

  #stderr(chunk: Buffer): void {
    const { log } = this.#options;
    if (!log.isLevelEnabled("debug")) return;
    const lines = chunk
      .subarray(0, 16 * 1024)
      .toString()
      .split("\n");
    for (const line of lines) if (line.trim() !== "") this.#note("says", line);
  }

  #note(what: string, line: string): void {
    if (this.#lines.take(performance.now()))
      this.#options.log.debug({ line: oneLine(line, LINE_CHARS) }, `the MCP server ${what}`);
  }
}

interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** What it inherits as descriptors from 3 on. */
  readonly extra: readonly ("ignore" | Uint8Array)[];
}

/** The server itself, or the sandbox that starts it. Rejects with what this machine lacks for that. */
async function programOf({ settings, mark, env: own, runIn, confine }: ChildOptions): Promise<Program> {
  const { command, args = [], sandbox } = settings;
  if (!sandbox) {
    // The mark last: whatever its settings say, its processes are found by it.
    const env = { ...own, ...settings.env, ...markedEnvironment(mark) };
    // What is not there is said by the system.
    const isRelative = /[/\\]/.test(command) && !isAbsolute(command);
    const found = isRelative ? undefined : findProgram(command, env);
    const program = found === undefined ? { file: command, args } : withOpenFiles({ file: found, args });
    return { ...program, env, cwd: settings.cwd ?? runIn, extra: [] };
  }
  const wrapped = (await confine(sandbox, settings.cwd))([command, ...args]);
  const contents = new Map(wrapped.fds.map(({ fd, content }) => [fd, content]));
  const last = Math.max(2, ...contents.keys());
  return {
    ...{ file: wrapped.file, args: wrapped.args, cwd: runIn },
    // All of it but these variables is the sandbox's own.
    env: { ...wrapped.env, ...settings.env, PATH: SYSTEM_PATH, ...markedEnvironment(mark) },
    extra: Array.from({ length: last - 2 }, (_, index) => contents.get(index + 3) ?? "ignore"),
  };
}

/** Ends what an earlier run of this program left behind. */
export async function endLeftovers(mark: string): Promise<void> {
  await endProcesses(mark, -1, "");
}

async function endProcesses(mark: string, pid: number, began: string): Promise<void> {
  await stopTree(currentPlatform().processes, { pid, began, mark: markOf(mark) }, TIMES.killAfter);
}

/** Never its command line, which may have secrets. */
function endOf(end: Pick<Result, "exitCode" | "signal" | "code">): string {
  if (end.exitCode !== undefined) return `it ended with exit code ${end.exitCode}`;
  if (end.signal !== undefined) return `it was ended by ${end.signal}`;
  return `${NOT_STARTED.get(end.code ?? "") ?? "its command could not be started"} (${end.code ?? "unknown"})`;
}

/** A name without a folder ends in EACCES too, where one of the PATH's folders may not be entered. */
const NOT_STARTED: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "its command was not found"],
  ["EACCES", "its command was not found, or may not be run"],
]);

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
