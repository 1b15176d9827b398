/** Runs a program that takes a picture, and waits for its end. */
import { execFile } from "node:child_process";
import { NoPicture } from "./picture.ts";

/** One program may take this long, in milliseconds. */
const RUN_MS = 10_000;
/** More than a picture of several large monitors, in bytes. */
const OUTPUT_MAX_BYTES = 128 * 1024 * 1024;

interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** What it wrote to its output. Throws NoPicture when it failed, and the signal's reason when that stopped it. */
export function outputOf(
  file: string,
  args: readonly string[],
  { env, signal }: Surroundings,
): Promise<Buffer> {
  const options = {
    env,
    signal,
    encoding: "buffer",
    timeout: RUN_MS,
    killSignal: "SIGKILL",
    maxBuffer: OUTPUT_MAX_BYTES,
    windowsHide: true,
  } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      reject(signal.aborted ? signal.reason : new NoPicture(reasonOf(error, stderr.toString("utf8"))));
    });
    child.stdin?.end();
  });
}

function reasonOf(
  error: Error & { code?: unknown; killed?: boolean; signal?: unknown },
  said: string,
): string {
  if (error.killed) return `it did not end within ${RUN_MS} ms`;
  const line = said.trim().split("\n").at(-1)?.slice(0, 200);
  if (line) return line;
  return error.signal ? `it was ended by ${error.signal}` : `it ended with ${error.code}`;
}
