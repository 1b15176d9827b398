/** When to stop: on a signal, or when the parent dies (a killed `npm` does not end its children). */

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** How often to check the parent, in milliseconds. */
const LOOK_EVERY = 500;

/**
 * Aborts when this process should stop. A second signal changes nothing: stopping takes seconds, and is in order.
 * A process that was started without a parent (by a service manager, in a container) is not stopped for lack of one.
 */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of SIGNALS) process.on(signal, () => stop.abort());
  const parent = process.ppid;
  if (parent > 1) {
    const timer = setInterval(() => {
      if (process.ppid !== parent) stop.abort();
    }, LOOK_EVERY);
    timer.unref();
  }
  // Whoever reads our output may be gone before us.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  return stop.signal;
}
