/** Deadlines and cancelling: the tool hears of both through its signal, and is not waited for without end. */
import { MatrxError } from "@matrx/shared/errors.ts";
import type { ToolResult } from "./tool.ts";

interface Deadline {
  tool: string;
  timeoutMs: number;
  /** After the signal the tool gets this long to wind down, in milliseconds. */
  windDownMs: number;
}

/** The reason of a cancelled call. */
export function cancelled(message: string): MatrxError {
  return new MatrxError({
    code: "CANCELLED",
    message,
    hint: "What it did until then is not undone",
    hop: "agent",
  });
}

/** Runs a handler until it ends, or until it was stopped and did not wind down in time. */
export async function runWithDeadline(
  handle: () => Promise<ToolResult>,
  stop: AbortController,
  { tool, timeoutMs, windDownMs }: Deadline,
): Promise<ToolResult> {
  const { signal } = stop;
  signal.throwIfAborted();
  const deadline = setTimeout(() => stop.abort(timedOut(tool, timeoutMs)), timeoutMs);
  const abandoned = Promise.withResolvers<never>();
  let windDown: NodeJS.Timeout | undefined;
  const onAbort = () => {
    windDown = setTimeout(() => abandoned.reject(signal.reason), windDownMs);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([handle(), abandoned.promise]);
  } catch (error) {
    throw signal.aborted && !saysItself(error) ? signal.reason : error;
  } finally {
    clearTimeout(deadline);
    clearTimeout(windDown);
    signal.removeEventListener("abort", onAbort);
  }
}

/** A tool may answer being stopped in its own words, such as with the output so far. */
function saysItself(error: unknown): boolean {
  return error instanceof MatrxError && (error.code === "TIMEOUT" || error.code === "CANCELLED");
}

function timedOut(tool: string, timeoutMs: number): MatrxError {
  return new MatrxError({
    code: "TIMEOUT",
    message: `${tool} was stopped after ${timeoutMs} ms`,
    hint: "Allow more time with timeout_ms, or give it less to do; what it did until then is not undone",
    hop: "agent",
    details: { timeout_ms: timeoutMs },
  });
}
