/** Ends a run early without leaving a process: Ctrl-C, termination, a parent that is gone, or a run that hangs. */
import type { Processes } from "./processes.ts";

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** `longest`: milliseconds that the whole run may take. Returns a function that calls the watch off. */
export function watchForEnd(processes: Processes, longest: number): () => void {
  const end = (why: string, code: number) => {
    console.error(`bench: ${why}, stopping`);
    void processes.stop().finally(() => process.exit(code));
  };
  for (const [signal, code] of Object.entries(SIGNALS)) process.on(signal, () => end(signal, code));
  const parent = process.ppid;
  const parentWatch = setInterval(() => {
    if (process.ppid !== parent) end("npm is gone", 129);
  }, 500);
  const deadline = setTimeout(() => end(`not done after ${longest / 1000} s`, 1), longest);
  return () => {
    clearInterval(parentWatch);
    clearTimeout(deadline);
  };
}
