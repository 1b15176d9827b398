/** A look at the system is waited for no longer than it may take: a driver, a drive or a process can keep a reader for ever. */
import type { MatrxError } from "@matrx/shared/errors.ts";
import { orAborted } from "./or-aborted.ts";

export interface TimeLimit {
  readonly withinMs: number;
  readonly tookTooLong: () => MatrxError;
  readonly signal?: AbortSignal;
}

/** Throws `tookTooLong`, or the signal's reason. */
export async function inTime<T>(
  look: () => Promise<T>,
  { withinMs, tookTooLong, signal }: TimeLimit,
): Promise<T> {
  signal?.throwIfAborted();
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tookTooLong()), withinMs);
  try {
    return await orAborted(look(), signal ? AbortSignal.any([signal, late.signal]) : late.signal);
  } finally {
    clearTimeout(timer);
  }
}
