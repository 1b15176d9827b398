/** Work on several entries, a few at a time: how far it is, and what failed. It goes on while the person is elsewhere in the app. */
import { retryAfterMsOf } from "@matrx/shared/retry.ts";
import { create } from "zustand";
import { onForget } from "../../base/tab-store.ts";
import { plural } from "../../ui/format.ts";
import { say, sayProblem } from "../../ui/notices.ts";
import type { Entry } from "./entries.ts";
import { isNoAnswer, isTooFast } from "./errors.ts";

/** More at once would fill the machine's record, and take too long to watch. */
export const MOST_AT_ONCE = 500;

export interface Failure {
  readonly name: string;
  readonly error: unknown;
}

export interface Batch {
  readonly id: string;
  readonly device: string;
  /** What is done, such as `Moving`. */
  readonly doing: string;
  /** The same, once it is over, such as `moved`. */
  readonly done: string;
  readonly total: number;
  readonly succeeded: number;
  readonly failures: readonly Failure[];
  /** Those that are left are not begun. */
  readonly isStopped: boolean;
  readonly isOver: boolean;
}

export interface Plan extends Pick<Batch, "device" | "doing" | "done"> {
  readonly entries: readonly Entry[];
  /** Entries that are worked on at the same time. */
  readonly atOnce: number;
  /** What the page shows besides tells that all went well. */
  readonly isTold?: boolean;
  /** Throws ApiError. */
  readonly work: (entry: Entry) => Promise<void>;
}

export const useBatches = create<{ readonly batches: readonly Batch[] }>(() => ({ batches: [] }));

/** Until all are done, or cannot be. Says how it ended; what failed stays on the page. */
export async function runBatch({ entries, atOnce, work, isTold = false, ...words }: Plan): Promise<void> {
  if (entries.length > MOST_AT_ONCE)
    return sayProblem(
      new Error(`At most ${MOST_AT_ONCE} entries at once: choose fewer, or the folder that they are in.`),
    );
  const id = crypto.randomUUID();
  const begun = { id, ...words, total: entries.length, succeeded: 0, failures: [] };
  useBatches.setState(({ batches }) => ({
    batches: [...batches, { ...begun, isStopped: false, isOver: false }],
  }));
  const left = [...entries];
  const worker = async () => {
    for (let entry = left.shift(); entry && batchOf(id)?.isStopped === false; entry = left.shift())
      try {
        await whenTaken(() => work(entry), id);
        change(id, ({ succeeded }) => ({ succeeded: succeeded + 1 }));
      } catch (error) {
        const failure = { name: entry.name, error };
        change(id, ({ failures, isStopped }) => ({
          failures: [...failures, failure],
          isStopped: isStopped || isNoAnswer(error),
        }));
      }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  end(id, isTold);
}

/** The longest that an entry waits for the relay's rate, in milliseconds. */
const LONGEST_WAIT = 60_000;

/** Until the relay takes it: what it refuses for its rate has not run. */
async function whenTaken(work: () => Promise<void>, id: string): Promise<void> {
  for (;;)
    try {
      return await work();
    } catch (error) {
      const wait = isTooFast(error) ? retryAfterMsOf(error.problem) : undefined;
      if (wait === undefined || wait > LONGEST_WAIT) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
      if (batchOf(id)?.isStopped !== false) throw error;
    }
}

/** Begins no more of it. */
export function stopBatch(id: string): void {
  change(id, () => ({ isStopped: true }));
}

export function forgetBatch(id: string): void {
  useBatches.setState(({ batches }) => ({ batches: batches.filter((batch) => batch.id !== id) }));
}

/** Those that were not even tried. */
export function untried({ total, succeeded, failures }: Batch): number {
  return total - succeeded - failures.length;
}

function end(id: string, isTold: boolean): void {
  change(id, () => ({ isOver: true }));
  const batch = batchOf(id);
  if (!batch) return;
  const { total, succeeded, failures, done } = batch;
  const [only] = failures;
  if (only && total === 1) sayProblem(only.error);
  else if (failures.length > 0 || untried(batch) > 0) return;
  else if (total > 1 && !isTold)
    say(`${plural(succeeded, "entry", "entries")} ${succeeded === 1 ? "was" : "were"} ${done}.`);
  forgetBatch(id);
}

function batchOf(id: string): Batch | undefined {
  return useBatches.getState().batches.find((batch) => batch.id === id);
}

function change(id: string, changes: (batch: Batch) => Partial<Batch>): void {
  useBatches.setState(({ batches }) => ({
    batches: batches.map((batch) => (batch.id === id ? { ...batch, ...changes(batch) } : batch)),
  }));
}

// What is not begun yet ends with the page.
addEventListener("beforeunload", (event) => {
  if (useBatches.getState().batches.some(({ isOver }) => !isOver)) event.preventDefault();
});

onForget(() => useBatches.setState({ batches: [] }));
