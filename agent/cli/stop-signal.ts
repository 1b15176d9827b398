/** Ctrl-C and the like: the first asks to stop, one more that comes later insists. */

/** Signals closer than this, in milliseconds, are one: a terminal and a parent may both send it. */
const SAME_WITHIN = 1000;

/** Aborts at SIGINT, SIGTERM or SIGHUP. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  let first: number | undefined;
  const onSignal = () => {
    first ??= performance.now();
    if (performance.now() - first > SAME_WITHIN) process.exit(130);
    stop.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  return stop.signal;
}
