/** Runs a program of the system to its end, with nothing to read, and no longer than it may take. */
import { execFile } from "node:child_process";

export interface ProgramOptions {
  /** It is killed after this long. */
  readonly timeoutMs: number;
  /** Absent: the agent's own. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly signal?: AbortSignal;
}

export interface ProgramOutput {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** More than a picture of several large monitors, or a list of all processes, in bytes. */
const OUTPUT_MAX_BYTES = 128 * 1024 * 1024;
const REASON_CHARS = 200;

/** A program could not be started, failed, or did not end in time. The message says why, in its own last words if it had any. */
export class ProgramFailed extends Error {}

/** What it wrote. Throws ProgramFailed, or the signal's reason when that ended it. */
export function runProgram(
  file: string,
  args: readonly string[],
  { timeoutMs, ...options }: ProgramOptions,
): Promise<ProgramOutput> {
  const limits = {
    encoding: "buffer",
    timeout: timeoutMs,
    killSignal: "SIGKILL",
    maxBuffer: OUTPUT_MAX_BYTES,
    windowsHide: true,
  } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, { ...options, ...limits }, (error, stdout, stderr) => {
      if (!error) return resolve({ stdout, stderr });
      if (options.signal?.aborted) return reject(options.signal.reason);
      reject(new ProgramFailed(reasonOf(error, stderr.toString("utf8"), timeoutMs), { cause: error }));
    });
    child.stdin?.end();
  });
}

function reasonOf(
  error: Error & { code?: unknown; killed?: boolean; signal?: unknown },
  said: string,
  timeoutMs: number,
): string {
  if (error.killed) return `it did not end within ${timeoutMs} ms`;
  const line = said.trim().split("\n").at(-1)?.slice(0, REASON_CHARS);
  if (line) return line;
  if (typeof error.code === "string") return `it could not be run (${error.code})`;
  return error.signal ? `it was ended by ${error.signal}` : `it ended with exit code ${error.code}`;
}
