/** Ctrl-C and other signals: the first one asks to stop, a later one ends the process. */
import { constants } from "node:os";
import { endWithReader } from "../output/reader.ts";

/** Signals within this time count as one, because a terminal and a parent may both send it; in milliseconds. */
const SAME_WITHIN = 1000;

let received: NodeJS.Signals | undefined;

/** Aborts at SIGINT, SIGTERM or SIGHUP, and when nobody reads stdout any more. */
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

/** The exit code that a shell reports for the received signal, if any. */
export function exitOfSignal(): number | undefined {
  return received && 128 + constants.signals[received];
}
