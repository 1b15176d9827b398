/** Waits for something of a job: any output, an amount of output, a matching line, its end, or a timeout. */
import { setTimeout as sleep } from "node:timers/promises";
import { statesOf } from "../text/plain-output.ts";
import { withoutPart } from "../text/sniff.ts";
import { matchingLines } from "./filter.ts";
import type { Job } from "./job.ts";
import { readPage } from "./page.ts";

export interface Waiting {
  readonly from: number;
  readonly ms: number;
  /** Defaults to any output. */
  readonly until: "output" | "exit" | { readonly bytes: number } | { readonly pattern: string };
  /** Only whole lines are output. */
  readonly filtering: boolean;
}

export type WaitEnd = "output" | "bytes" | "pattern" | "exit" | "time";

/** Polling interval, in milliseconds. */
const LOOK_EVERY = 40;
/** How many bytes are searched for a pattern at once. */
const PIECE = 64 * 1024;

export async function waitFor(job: Job, waiting: Waiting, signal: AbortSignal): Promise<WaitEnd> {
  const deadline = performance.now() + waiting.ms;
  const look = lookerFor(job, waiting);
  for (;;) {
    // Checked first: once a job has ended, all its output is there.
    const { isRunning } = job;
    const found = await look();
    if (found) return found;
    if (!isRunning) return "exit";
    if (performance.now() >= deadline) return "time";
    const pause = Math.min(LOOK_EVERY, Math.max(1, deadline - performance.now()));
    await Promise.race([job.ended, sleep(pause, undefined, { signal })]);
  }
}

function lookerFor(job: Job, { from, until, filtering }: Waiting): () => Promise<WaitEnd | undefined> {
  if (until === "exit") return () => Promise.resolve(undefined);
  if (until === "output") return async () => ((await hasText(job, from, filtering)) ? "output" : undefined);
  if ("bytes" in until)
    return async () => ((await job.log.size()) >= from + until.bytes ? "bytes" : undefined);
  return patternLooker(job, from, until.pattern);
}

/** An incomplete character does not count as output yet; nor, for a filter, does an incomplete line. */
async function hasText(job: Job, from: number, filtering: boolean): Promise<boolean> {
  return (await job.log.size()) > from && (await readPage(job, from, filtering)).text !== "";
}

/** A growing line is searched again: a prompt usually has no line end. */
function patternLooker(job: Job, from: number, pattern: string): () => Promise<WaitEnd | undefined> {
  let lineStart = from;
  let seen = from;
  return async () => {
    while (seen < (await job.log.size())) {
      const { bytes, offset } = await job.log.read(lineStart, PIECE);
      const whole = withoutPart(bytes);
      if (whole.length === 0 || offset + whole.length <= seen) return undefined;
      const lines = statesOf(whole.toString("utf8"));
      if ((await matchingLines(pattern, lines, "wait_pattern")).includes(true)) return "pattern";
      seen = offset + whole.length;
      const lastBreak = whole.lastIndexOf(10);
      // A line longer than a piece is searched piece by piece.
      lineStart =
        lastBreak === -1 && whole.length < PIECE - 4
          ? offset
          : lastBreak === -1
            ? seen
            : offset + lastBreak + 1;
    }
    return undefined;
  };
}
