/** `npm start` as a person sees it, without npm: the launcher as a process, what it printed, how it ended. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { readRunning } from "../../scripts/start/lock.ts";
import { orphansOf } from "../../scripts/start/orphans.ts";
import { isAlive } from "../../scripts/start/process.ts";
import { ROOT } from "../../scripts/tree.ts";
import { temporaryFolder } from "./folder.ts";

export const START = join(ROOT, "scripts/start.ts");

export interface Launcher {
  readonly process: ChildProcess;
  /** All that it printed until now. */
  output(): string;
  /** Resolves with the curl line of the last screen; rejects if it ends before. */
  curlLine(): Promise<string>;
  /** Resolves with its exit code when it has ended. */
  readonly exit: Promise<number | null>;
}

/** Starts the launcher on a folder and a free port. What is left of it ends with the test. */
export function launch(dataDir: string, args: readonly string[] = ["--port", "0"], home?: string): Launcher {
  const env = personsEnvironment(home);
  return watch(spawn(process.execPath, [START, "--data", dataDir, ...args], { env }), dataDir);
}

/** The tester's own, but for the home folder: a start notes there what belongs to it. */
export function personsEnvironment(home = temporaryFolder()): NodeJS.ProcessEnv {
  return { ...process.env, HOME: home };
}

/** Follows a launcher's output. */
export function watch(child: ChildProcess, dataDir: string): Launcher {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    const left = [...pidsOn(dataDir), ...orphansOf(dataDir, {}).map(({ pid }) => pid)];
    for (const pid of left) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  });
  return {
    process: child,
    output: () => output,
    exit,
    async curlLine() {
      for (;;) {
        const line = output.match(/^curl .*$/m)?.[0];
        if (line) return line;
        const ended = await Promise.race([exit.then(() => true), sleep(50, false)]);
        if (ended) throw new Error(`The launcher ended:\n${output}`);
      }
    },
  };
}

/** Process ids of launcher, relay and agent by the pid file. */
export function pidsOn(dataDir: string): number[] {
  try {
    const { launcher, relay, agent } = readRunning(dataDir) ?? {};
    return [launcher, relay, agent].filter((pid) => pid !== undefined);
  } catch {
    return [];
  }
}

const run = promisify(execFile);

/** Runs a line as a person pastes it into a shell. */
export async function shell(line: string): Promise<string> {
  return (await run("sh", ["-c", line])).stdout;
}

/** Waits until something is so. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  within = 60_000,
): Promise<void> {
  for (const end = performance.now() + within; performance.now() < end; await sleep(50)) {
    if (await isSo()) return;
  }
  throw new Error(`Not within ${within} ms: ${what}`);
}
