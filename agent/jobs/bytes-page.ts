/** A part of a job's output as it is, in base64: also half a character, and what is no text. */
import type { Job } from "./job.ts";

const DEFAULT_BYTES = 64 * 1024;
export const MOST_BYTES = 1024 * 1024;

/** What comes next from an offset on. A job that does not run and has no `more` wrote nothing else. */
export async function bytesPage(job: Job, start: number, limit = DEFAULT_BYTES) {
  // Asked before reading: what a job that has ended wrote is all there then.
  const { isRunning } = job;
  const { bytes, offset } = await job.log.read(start, limit);
  const size = await job.log.size();
  const { status, exit, started, ended } = job.record;
  return {
    output: bytes.toString("base64"),
    metadata: {
      bash_id: job.id,
      status: isRunning ? "running" : status,
      exit_code: isRunning ? null : exit,
      start_offset: offset,
      end_offset: offset + bytes.length,
      log_bytes: size,
      more: offset + bytes.length < size,
      ...(offset > start && { cut_bytes: offset - start }),
      encoding: "base64",
      duration_ms: (ended ?? Date.now()) - started,
    },
  };
}
