/** The processes that a run starts: each is known by its pid, and none outlives the run. */
import { type ChildProcess, fork, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Program {
  pid: number;
  port: number;
}

export class Processes {
  readonly #running = new Set<ChildProcess>();
  readonly #cleanups: (() => Promise<void> | void)[] = [];
  #stopping: Promise<void> | undefined;
  /** For data of the run; removed at its end. */
  readonly folder = mkdtempSync(join(tmpdir(), "matrx-bench-"));

  /** Starts a Node program of bench/programs and waits until it says that it is ready. */
  async start(program: string, settings: Record<string, string | number> = {}): Promise<Program> {
    const path = new URL(`./programs/${program}.ts`, import.meta.url);
    const child = fork(path, [JSON.stringify(settings)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    this.#track(child, program);
    const [message] = (await Promise.race([once(child, "message"), exitOf(child, program)])) as [Ready];
    return { pid: pidOf(child, program), port: message.port };
  }

  /** Starts any other program, to be ended with the rest. */
  spawn(command: string, args: string[], options: SpawnOptions): ChildProcess {
    const child = spawn(command, args, options);
    this.#track(child, command);
    return child;
  }

  /** Runs a program to its end. Rejects if it fails. */
  async run(command: string, args: string[]): Promise<void> {
    const child = spawn(command, args, { stdio: ["ignore", "ignore", "inherit"] });
    this.#running.add(child);
    if (this.isStopping) child.kill("SIGKILL");
    const [code, signal] = await once(child, "exit");
    this.#running.delete(child);
    if (code !== 0) throw new Error(`${command} failed (${signal ?? code})`);
  }

  /** Kills a program as a crash would, and waits for its end. */
  async kill(pid: number): Promise<void> {
    const child = [...this.#running].find((candidate) => candidate.pid === pid);
    if (!child) throw new Error(`process ${pid} is none of this run's`);
    this.#running.delete(child);
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  /** Something to be done at the end, once the processes are ended. */
  atEnd(cleanup: () => Promise<void> | void): void {
    this.#cleanups.push(cleanup);
  }

  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Ends everything; idempotent. SIGKILL, for workerd keeps open sockets alive past SIGTERM. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const exits = [...this.#running].map((child) => once(child, "exit"));
    for (const child of this.#running) child.kill("SIGKILL");
    await Promise.all(exits);
    for (const cleanup of this.#cleanups.reverse()) await cleanup();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #track(child: ChildProcess, name: string): void {
    this.#running.add(child);
    if (this.isStopping) child.kill("SIGKILL");
    child.once("exit", (code, signal) => {
      if (!this.#running.delete(child) || this.isStopping) return;
      console.error(`bench: ${name} ended by itself (${signal ?? code})`);
      process.exitCode = 1;
    });
  }
}

export interface Ready {
  port: number;
}

async function exitOf(child: ChildProcess, name: string): Promise<never> {
  const [code, signal] = await once(child, "exit");
  throw new Error(`${name} ended before it was ready (${signal ?? code})`);
}

export function pidOf(child: ChildProcess, name: string): number {
  if (child.pid === undefined) throw new Error(`${name} did not start`);
  return child.pid;
}

/** For the programs themselves: settings come as one JSON argument. */
export function settingsOf<Settings>(): Settings {
  return JSON.parse(process.argv[2] ?? "{}") as Settings;
}

/** For the programs themselves: says that this program is ready, and ends it when the run is gone. */
export function ready(port: number): void {
  process.once("disconnect", () => process.exit());
  process.send?.({ port } satisfies Ready);
}
