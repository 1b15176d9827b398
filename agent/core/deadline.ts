/** Deadlines and cancellation: both abort the tool's signal, and a tool that does not stop is not waited for indefinitely. */
import { agentError, MatrxError } from "@matrx/shared/errors.ts";

interface Limits {
  tool: string;
  timeoutMs: number;
  /** How long the tool may wind down after the signal, in milliseconds. */
  windDownMs: number;
}

/** The reason of a cancelled call. */
export function cancelledError(message: string): MatrxError {
  return agentError("CANCELLED", message, { hint: "What it did until then is not undone" });
}

/** Waits for something that the tool cannot speed up, with its deadline paused. */
export type StandStill = (wait: () => Promise<void>) => Promise<void>;

/** Runs a handler until it ends, or is stopped and fails to wind down in time. */
export async function runWithDeadline<Result>(
  handle: (standStill: StandStill) => Promise<Result>,
  stop: AbortController,
  { tool, timeoutMs, windDownMs }: Limits,
): Promise<Result> {
  const { signal } = stop;
  signal.throwIfAborted();
  const deadline = new Deadline(timeoutMs, () => stop.abort(timedOut(tool, timeoutMs)));
  const abandoned = Promise.withResolvers<never>();
  let windDown: NodeJS.Timeout | undefined;
  const onAbort = () => {
    windDown = setTimeout(() => abandoned.reject(signal.reason), windDownMs);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([handle((wait) => deadline.standStill(wait)), abandoned.promise]);
  } catch (error) {
    throw signal.aborted && (isRefusal(signal.reason) || !saysItself(error)) ? signal.reason : error;
  } finally {
    deadline.end();
    clearTimeout(windDown);
    signal.removeEventListener("abort", onAbort);
  }
}

class Deadline {
  readonly #passed: () => void;
  #leftMs: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(ms: number, passed: () => void) {
    this.#leftMs = ms;
    this.#passed = passed;
    this.#start();
  }

  async standStill(wait: () => Promise<void>): Promise<void> {
    clearTimeout(this.#timer);
    this.#leftMs -= performance.now() - this.#since;
    try {
      await wait();
    } finally {
      this.#start();
    }
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #start(): void {
    if (this.#ended) return;
    this.#since = performance.now();
    this.#timer = setTimeout(this.#passed, this.#leftMs);
  }
}

/** Whether the call is not allowed any more: then it is told so, and no more. */
function isRefusal(reason: unknown): boolean {
  return reason instanceof MatrxError && reason.code === "PERMISSION_DENIED";
}

/** Whether a stopped tool gave its own answer, for example with the output so far. */
function saysItself(error: unknown): boolean {
  return error instanceof MatrxError && (error.code === "TIMEOUT" || error.code === "CANCELLED");
}

function timedOut(tool: string, timeoutMs: number): MatrxError {
  return agentError("TIMEOUT", `${tool} was stopped after ${timeoutMs} ms`, {
    hint: "Allow more time with timeout_ms, or give it less to do; what it did until then is not undone",
    details: { timeout_ms: timeoutMs },
  });
}
