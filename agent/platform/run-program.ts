/** Runs a program to its end, with a time limit. */
import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import type { Result } from "execa";

export interface ProgramOptions {
  /** It is killed after this long. */
  readonly timeoutMs: number;
  /** Absent: the agent's own. */
  readonly env?: NodeJS.ProcessEnv;
  /** Absent: the root folder, whatever folder the agent was started in. */
  readonly cwd?: string;
  readonly signal?: AbortSignal;
  /** What it reads from its stdin. Absent: nothing. */
  readonly input?: Uint8Array;
  /** A program that writes more to stdout is ended, and only so much is kept, in bytes. Absent: that is a failure. */
  readonly mostBytes?: number;
}

export interface ProgramOutput {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Whether stdout is only the beginning. */
  readonly isCut: boolean;
}

/** Programs read what lies where they run, and callers may write in most other folders. */
export const ROOT = path.parse(process.execPath).root;

/** More than a picture of several large monitors, or a list of all processes, in bytes. */
const OUTPUT_MAX_BYTES = 128 * 1024 * 1024;
const REASON_CHARS = 200;

/** A program could not be started, failed, or timed out. The message says why, with its last output if there is any. */
export class ProgramFailed extends Error {}

/** Loaded lazily: most of our programs run no other program. */
export function loadStarter() {
  return import("execa");
}

/** Returns its output. Throws ProgramFailed, or the signal's reason if that ended it. */
export async function runProgram(
  file: string,
  args: readonly string[],
  { timeoutMs, env, cwd = ROOT, signal, input, mostBytes }: ProgramOptions,
): Promise<ProgramOutput> {
  signal?.throwIfAborted();
  const { execa } = await loadStarter();
  const result = await execa(file, args, {
    ...(env && { env, extendEnv: false }),
    cwd,
    ...(signal && { cancelSignal: signal }),
    timeout: timeoutMs,
    killSignal: "SIGKILL",
    maxBuffer: { stdout: mostBytes ?? OUTPUT_MAX_BYTES, stderr: OUTPUT_MAX_BYTES },
    encoding: "buffer",
    stripFinalNewline: false,
    ...(input ? { input } : { stdin: "ignore" }),
    windowsHide: true,
    reject: false,
  });
  const [stdout, stderr] = [bufferOf(result.stdout), bufferOf(result.stderr)];
  if (!result.failed) return { stdout, stderr, isCut: false };
  signal?.throwIfAborted();
  if (mostBytes !== undefined && result.isMaxBuffer && stdout.length >= mostBytes)
    return { stdout, stderr, isCut: true };
  throw new ProgramFailed(reasonOf(result, stderr.toString(), timeoutMs), { cause: result });
}

/** Undefined: it was not even started. */
function bufferOf(bytes: Uint8Array | undefined): Buffer {
  return bytes ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : Buffer.alloc(0);
}

type End = Pick<Result, "timedOut" | "isMaxBuffer" | "exitCode" | "signal" | "code">;

function reasonOf(end: End, said: string, timeoutMs: number): string {
  if (end.timedOut) return `it did not end within ${timeoutMs} ms`;
  if (end.isMaxBuffer) return `it wrote more than ${OUTPUT_MAX_BYTES} bytes`;
  const line = said.trim().split("\n").at(-1)?.slice(0, REASON_CHARS);
  if (line) return line;
  if (end.exitCode !== undefined) return `it ended with exit code ${end.exitCode}`;
  return end.signal ? `it was ended by ${end.signal}` : `it could not be started (${end.code})`;
}

/** A program of the PATH, or an absolute path itself; undefined: it is not there, or may not be run. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
  if (path.isAbsolute(name)) return isProgram(name) ? name : undefined;
  // Ignore relative folders: nobody chose the agent's current directory.
  const folders = (env.PATH ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.join(folder, name)).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
