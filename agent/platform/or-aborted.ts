/** Rejects when the signal aborts, whatever the promise does. */
export async function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  // Whichever is not waited for must not count as unhandled.
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
    aborted.promise.catch(() => undefined);
  }
}
