/** A page of a job's output: as much as fits into one answer. */
import { withoutOpenSequence } from "../text/plain-output.ts";
import { withoutPart } from "../text/sniff.ts";
import { ANSWER_CHARS, firstChars } from "./excerpt.ts";
import type { Job } from "./job.ts";

const DEFAULT_BYTES = 64 * 1024;
export const MOST_BYTES = 1024 * 1024;

/** The next bytes from an offset. If the job has ended and there is no `more`, that is all its output. */
export async function bytesPage(job: Job, start: number, limit = DEFAULT_BYTES) {
  // Checked before reading: once a job has ended, all its output is there.
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

/** Bytes read at once: a UTF-16 unit takes three of UTF-8 at most. */
const PAGE_BYTES = ANSWER_CHARS * 3;

export interface Page {
  readonly text: string;
  /** Offset of its first byte; later than requested if the log was cut there. */
  readonly begin: number;
  /** Offset of the byte after it. */
  readonly end: number;
  readonly size: number;
  /** Whether it was running before the read: if not, there is no more output to come. */
  readonly running: boolean;
}

/**
 * Reads the next page. An unfinished last line is included, as it may be a prompt; but at a page's end, and when
 * `filtering`, only whole lines are taken.
 */
export async function readPage(job: Job, start: number, filtering: boolean): Promise<Page> {
  const running = job.isRunning;
  const known = await job.log.size();
  const { bytes, offset } = await job.log.read(start, PAGE_BYTES);
  const size = await job.log.size();
  const skipped = start > 0 && offset === start ? continuationBytes(bytes) : 0;
  const page = firstChars(bytes.subarray(skipped), ANSWER_CHARS);
  const isEnd = !running && offset + skipped + page.length >= size;
  // The rest of this line was cut from the log.
  const beforeGap = bytes.length < PAGE_BYTES && offset + bytes.length < known;
  const isLast = isEnd || (beforeGap && skipped + page.length === bytes.length);
  const whole = isLast ? bytes.subarray(skipped) : withoutOpenSequence(withoutPart(page));
  const line = whole.lastIndexOf(10);
  const endsPage = bytes.length === PAGE_BYTES || page.length < bytes.length - skipped;
  const taken =
    (endsPage || filtering) && !isEnd && !beforeGap && line !== -1 ? whole.subarray(0, line + 1) : whole;
  const waits = filtering && !isEnd && line === -1 && whole.length < ANSWER_CHARS;
  const shown = waits ? whole.subarray(0, 0) : taken;
  const begin = offset + skipped;
  return { text: shown.toString("utf8"), begin, end: begin + shown.length, size, running };
}

/** How many bytes at the start belong to a character that began earlier. */
function continuationBytes(bytes: Buffer): number {
  let count = 0;
  while (count < 3 && count < bytes.length && ((bytes[count] ?? 0) & 0xc0) === 0x80) count++;
  return count;
}
