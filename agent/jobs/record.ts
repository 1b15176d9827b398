/** A job's record on disk, which survives a restart of the agent. */
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { randomBase32 } from "@matrx/shared/ids.ts";
import * as z from "zod";

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
  /** After a command ends, how long to wait for output of processes that it left running, in milliseconds. */
  drain: 250,
  /** How long a stopped job may take before it is killed, in milliseconds: even on a busy machine it is gone within `TIMES.killAfter`. */
  stopGrace: 2000,
  /** How often to check a job that was started before the agent's restart, in milliseconds. */
  adoptedLookEvery: 250,
  /** Running jobs of one grant. */
  runningPerGrant: 32,
  /** Finished jobs kept for reading. */
  finishedKept: 200,
  /** Limit on all logs of finished jobs, in bytes. */
  finishedBytes: 512 * MiB,
  /** How long a finished job is kept, in milliseconds. */
  finishedKeptFor: 24 * 60 * 60 * 1000,
} as const;

export type JobLimits = { readonly [Name in keyof typeof JOB_LIMITS]: number };

const JOB_STATUS = ["running", "completed", "stopped", "cancelled", "timed_out", "lost"] as const;
/** `lost`: it ended while no agent was running, and left no exit code. */
export type JobStatus = (typeof JOB_STATUS)[number];

const count = z.int().nonnegative();

const jobRecordSchema = z.object({
  id: z.string().regex(/^job_[0-9a-z]{10}$/),
  grant: z.string(),
  /** Whether that grant is the owner's. Absent: an earlier agent's, which ran commands of owners only. */
  owner: z.boolean().optional(),
  /** The call that it answers. */
  call: z.string().optional(),
  /** When the call is answered even if the command is still running, in milliseconds since 1970; absent: when the command ends. */
  answer_by: z.number().optional(),
  /** The beginning of the command, for people; what looks like a secret is masked. */
  command: z.string(),
  description: z.string().optional(),
  cwd: z.string(),
  background: z.boolean(),
  /** It changes nothing, and ends with its call. */
  read_only: z.literal(true).optional(),
  /** Milliseconds since 1970. */
  started: z.number(),
  ended: z.number().nullable(),
  /** Milliseconds since 1970; it is stopped then. */
  deadline: z.number().nullable(),
  pid: z.int(),
  /** When the process began, as the system tells it. */
  began: z.string(),
  status: z.enum(JOB_STATUS),
  exit: z.int().nullable(),
  /** How the log is cut: bytes before the live end, and the parts of them that are kept. */
  log: z.object({ base: count, headBytes: count, tailBytes: count }),
});
export type JobRecord = z.infer<typeof jobRecordSchema>;

export function makeJobId(): string {
  return `job_${randomBase32(10)}`;
}

/** If it throws, the record on disk is the one from before. */
export async function saveRecord(directory: string, record: JobRecord): Promise<void> {
  const file = path.join(directory, "job.json");
  const temporary = `${file}.${randomBase32(6)}`;
  try {
    await writeFile(temporary, JSON.stringify(record), { mode: 0o600 });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Undefined if there is none, or it is damaged. */
export async function loadRecord(directory: string): Promise<JobRecord | undefined> {
  try {
    return jobRecordSchema.parse(JSON.parse(await readFile(path.join(directory, "job.json"), "utf8")));
  } catch {
    return undefined;
  }
}
