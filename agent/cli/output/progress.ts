/** Shows on stderr that something takes its time: nothing in the first second, then how many seconds it has taken. */
import { isQuietRun } from "./print.ts";

const FIRST_AFTER = 1000;

/** Waits for a promise; `what` is shown once it takes more than a second. */
export async function withProgress<Value>(what: string, work: Promise<Value>): Promise<Value> {
  if (isQuietRun()) return work;
  const began = performance.now();
  const terminal = process.stderr.isTTY;
  let shown = false;
  const show = () => {
    const seconds = Math.round((performance.now() - began) / 1000);
    if (terminal)
      process.stderr.write(`\r\u001b[K${fitted(what, ` ... ${seconds} s`, process.stderr.columns)}`);
    else if (!shown) process.stderr.write(`${what} ...\n`);
    shown = true;
  };
  const timer = setInterval(show, FIRST_AFTER);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (shown && terminal) process.stderr.write("\r\u001b[K");
  }
}

/** Cuts the text to one line of the terminal: a longer one would wrap and leave a row behind every second. */
export function fitted(what: string, end: string, columns = 80): string {
  const room = Math.max(0, columns - 1 - end.length);
  return `${what.length > room ? what.slice(0, room) : what}${end}`;
}
