/** A run of a benchmark leaves no process: not after Ctrl-C, termination, a parent that is gone, nor when it hangs. */
import { Processes } from "./processes.ts";

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** `longest`: milliseconds that the whole run may take. */
export async function withProcesses(
  longest: number,
  run: (processes: Processes) => Promise<void>,
): Promise<void> {
  const processes = new Processes();
  const callOffWatch = watchForEnd(processes, longest);
  try {
    await run(processes);
  } catch (error) {
    if (!processes.isStopping) throw error;
  } finally {
    await processes.stop();
    callOffWatch();
  }
}

/** Tells what the run is at. */
export function say(line: string): void {
  console.log(`[${(performance.now() / 1000).toFixed(1).padStart(5)} s] ${line}`);
}

/** Returns a function that calls the watch off. */
function watchForEnd(processes: Processes, longest: number): () => void {
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
