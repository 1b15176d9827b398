/** Waits until a job has something to tell: output, an amount of it, a line that matches, its end, or the time is over. */
import { setTimeout as sleep } from "node:timers/promises";
import { statesOf } from "../text/plain-output.ts";
import { withoutPart } from "../text/sniff.ts";
import { matchingLines } from "./filter.ts";
import type { Job } from "./job.ts";
import { readPage } from "./page.ts";

export interface Waiting {
  readonly from: number;
  readonly ms: number;
  /** Nothing given: any output. */
  readonly until: "output" | "exit" | { readonly bytes: number } | { readonly pattern: string };
  /** Only whole lines are output. */
  readonly filtering: boolean;
}

export type WaitEnd = "output" | "bytes" | "pattern" | "exit" | "time";

/** How often it looks, in milliseconds. */
const LOOK_EVERY = 40;
/** Bytes that are searched for a pattern at once. */
const PIECE = 64 * 1024;

export async function waitFor(job: Job, waiting: Waiting, signal: AbortSignal): Promise<WaitEnd> {
  const deadline = performance.now() + waiting.ms;
  const look = lookerFor(job, waiting);
  for (;;) {
    // Asked before looking: what a job that has ended wrote is all there then.
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

/** Half a character is no output yet, nor is, for a filter, half a line. */
async function hasText(job: Job, from: number, filtering: boolean): Promise<boolean> {
  return (await job.log.size()) > from && (await readPage(job, from, filtering)).text !== "";
}

/** A line is looked at again while it grows: a question mostly has no end of line. */
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
      // A line longer than a piece is looked at piece by piece.
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
