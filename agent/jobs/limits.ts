/** Limits of jobs, with their units. The job store enforces them. */
const KiB = 1024;
const MiB = 1024 * KiB;

export const JOB_LIMITS = {
  /** The beginning of a log that is always kept, in bytes. */
  logHeadBytes: 8 * MiB,
  /** The part before the live end that a cut leaves, in bytes. */
  logTailBytes: 1 * MiB,
  /** The live end of a log grows to this, in bytes; then it is cut. */
  logLiveBytes: 32 * MiB,
  /** How often the logs of running jobs are measured, in milliseconds. */
  measureEvery: 100,
  /** After a command's end, output of what it left running is waited for this long, in milliseconds. */
  drain: 250,
  /** A stopped job is asked to end for this long, in milliseconds: also on a busy machine it is gone within `TIMES.killAfter`. */
  stopGrace: 2000,
  /** How often a job that was begun before the agent's restart is looked at, in milliseconds. */
  adoptedLookEvery: 250,
  /** Running jobs of one grant. */
  runningPerGrant: 32,
  /** Finished jobs kept for reading. */
  finishedKept: 200,
  /** Logs of finished jobs together, in bytes. */
  finishedBytes: 512 * MiB,
  /** A finished job is kept this long, in milliseconds. */
  finishedKeptFor: 24 * 60 * 60 * 1000,
} as const;

export type JobLimits = { readonly [Name in keyof typeof JOB_LIMITS]: number };
