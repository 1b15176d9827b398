/** What the relay refuses for its rate has not run, and is sent again when it says. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { cancelled, rateWaitOf } from "./errors.ts";
import { pause } from "./pause.ts";

export interface Patience<T> {
  /** The error that an answer is. */
  readonly errorIn?: (answer: T) => MatrxError | undefined;
  /** Ends the waiting, with `CANCELLED`. */
  readonly signal: AbortSignal;
  /** The longest that it waits, in milliseconds. */
  readonly waitMs: number;
}

/** Sends it until the relay takes it. Throws MatrxError. */
export async function whenTaken<T>(send: () => Promise<T>, patience: Patience<T>): Promise<T> {
  const { errorIn, signal, waitMs } = patience;
  const until = performance.now() + waitMs;
  for (;;) {
    let wait: number | undefined;
    try {
      const answer = await send();
      wait = waitOf(errorIn?.(answer), until);
      if (wait === undefined) return answer;
    } catch (error) {
      wait = waitOf(error, until);
      if (wait === undefined) throw error;
    }
    await pause(wait, signal);
    if (signal.aborted) throw cancelled();
  }
}

function waitOf(error: unknown, until: number): number | undefined {
  const wait = error instanceof MatrxError ? rateWaitOf(error) : undefined;
  return wait !== undefined && performance.now() + wait <= until ? wait : undefined;
}
