/** What is written down of a job, so that it is known after a restart of the agent. */
import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { randomBase32 } from "@matrx/shared/ids.ts";
import * as z from "zod";

const JOB_STATUS = ["running", "completed", "stopped", "cancelled", "timed_out", "lost"] as const;
/** `lost`: it ended while no agent was there, and left no exit code. */
export type JobStatus = (typeof JOB_STATUS)[number];

const count = z.int().nonnegative();

const jobRecordSchema = z.object({
  id: z.string().regex(/^job_[0-9a-z]{10}$/),
  grant: z.string(),
  /** The call that it answers. */
  call: z.string().optional(),
  /** When that is answered although the command still runs, in milliseconds since 1970; absent: at its end. */
  answer_by: z.number().optional(),
  /** Its beginning, for people. */
  command: z.string(),
  description: z.string().optional(),
  cwd: z.string(),
  background: z.boolean(),
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

export async function saveRecord(directory: string, record: JobRecord): Promise<void> {
  const file = path.join(directory, "job.json");
  const temporary = `${file}.${randomBase32(6)}`;
  await writeFile(temporary, JSON.stringify(record), { mode: 0o600 });
  await rename(temporary, file);
}

/** Undefined: there is none, or it is damaged. */
export async function loadRecord(directory: string): Promise<JobRecord | undefined> {
  try {
    return jobRecordSchema.parse(JSON.parse(await readFile(path.join(directory, "job.json"), "utf8")));
  } catch {
    return undefined;
  }
}
