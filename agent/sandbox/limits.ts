/** Limits on what a sandboxed command may use up, set by `prlimit` where the machine has it. */
import { totalmem } from "node:os";

const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

export interface SandboxLimits {
  /** Memory of each process, in bytes. */
  readonly memoryBytes: number;
  /** Processes and threads together. The kernel does not count those of root. */
  readonly processes: number;
  /** Processor time of each process, in seconds. */
  readonly cpuSeconds: number;
  /** Size of a file that it writes. */
  readonly fileBytes: number;
  /** Room in its private folder for temporary files, in memory. */
  readonly scratchBytes: number;
}

export function defaultLimits(memory = totalmem()): SandboxLimits {
  return {
    memoryBytes: Math.max(512 * MiB, Math.floor(memory * 0.75)),
    processes: 2048,
    cpuSeconds: 4 * 60 * 60,
    fileBytes: 16 * GiB,
    scratchBytes: Math.min(GiB, Math.floor(memory / 8)),
  };
}

/** Runs a command under the limits. Without `prlimit` there are none. */
export function limited(
  command: readonly string[],
  { memoryBytes, processes, cpuSeconds, fileBytes }: SandboxLimits,
  prlimit: string | undefined,
): readonly string[] {
  if (prlimit === undefined) return command;
  return [
    prlimit,
    `--data=${memoryBytes}`,
    `--nproc=${processes}`,
    `--cpu=${cpuSeconds}`,
    `--fsize=${fileBytes}`,
    "--core=0",
    "--",
    ...command,
  ];
}
