/** Ctrl-C and the like: the first asks to stop, one more that comes later insists. */
import { constants } from "node:os";
import { endWithReader } from "../output/progress.ts";

/** Signals closer than this, in milliseconds, are one: a terminal and a parent may both send it. */
const SAME_WITHIN = 1000;

let received: NodeJS.Signals | undefined;

/** Aborts at SIGINT, SIGTERM or SIGHUP, and when nobody reads what is printed any more. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  let first: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (first === undefined) [first, received] = [performance.now(), signal];
    if (performance.now() - first > SAME_WITHIN) process.exit(exitOfSignal());
    stop.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  endWithReader(() => onSignal("SIGPIPE"));
  return stop.signal;
}

/** The exit code by which a shell tells of the signal that came; undefined: none did. */
export function exitOfSignal(): number | undefined {
  return received && 128 + constants.signals[received];
}
