/** Child processes: how one ended, how one is ended, and whether another still lives. */
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode } from "../problem.ts";

/** How a process ended. */
export interface End {
  /** Its exit code; null: a signal ended it. */
  code: number | null;
  /** In words: "ended with code 1". */
  how: string;
}

/** A child process and its end. */
export interface Child {
  readonly pid: number;
  readonly ended: Promise<End>;
  /** Ends it: a request first, and after the grace, in milliseconds, by force. */
  stop(graceMs: number): Promise<void>;
  /** Ends it by force, now. */
  kill(): Promise<void>;
}

/** Wraps a spawned child. Rejects if it could not be started. */
export async function started(child: ChildProcess): Promise<Child> {
  const ended = new Promise<End>((resolve) => {
    child.once("exit", (code, signal) => {
      resolve({ code, how: signal ? `ended by ${signal}` : `ended with code ${code}` });
    });
  });
  await new Promise((resolve, reject) => {
    child.once("spawn", resolve).once("error", reject);
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error("a spawned process has no id");
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  const stop = async (graceMs: number) => {
    child.kill("SIGTERM");
    const over = new AbortController();
    const timer = sleep(graceMs, undefined, { signal: over.signal }).catch(() => undefined);
    await Promise.race([ended, timer]);
    over.abort();
    await kill();
  };
  return { pid, ended, stop, kill };
}

/** Tells whether a process lives. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (isZombie(pid)) return false;
    // One that went in between has no state to read.
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

function isZombie(pid: number): boolean {
  try {
    return /^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
