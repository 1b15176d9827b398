/** Says on stderr that something takes its time: nothing in the first second, then the seconds. */
import { IO_ERROR } from "./failure.ts";
import { isQuietRun, styled } from "./print.ts";

let hasReader = true;
let stopWork: (() => void) | undefined;

/** A reader that goes ends the command, at once or by `endWithReader`; a full disk is said once and told by the exit code. */
export function watchOutput(): void {
  let isSaid = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (isSaid) return;
    isSaid = true;
    if (error.code === "EPIPE") {
      hasReader = false;
      // `matrx tools laptop | head` is no failure.
      return stopWork ? stopWork() : process.exit(0);
    }
    console.error(`${styled("red", "Error:", process.stderr)} The output cannot be written (${error.code})`);
    console.error("What was printed so far is incomplete. Free some space, or write to another place");
    process.once("exit", () => {
      process.exitCode ||= IO_ERROR;
    });
  });
  // Whoever reads what is said on the side may go, too.
  process.stderr.on("error", () => undefined);
}

/** When nobody reads stdout any more, the program is not ended, but told to stop. */
export function endWithReader(stop: () => void): void {
  stopWork = stop;
}

/** Nobody reads stdout any more. */
export function isReaderGone(): boolean {
  return !hasReader;
}

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

/** One line of a terminal: a longer one would wrap, and each second leave a row behind. */
export function fitted(what: string, end: string, columns = 80): string {
  const room = Math.max(0, columns - 1 - end.length);
  return `${what.length > room ? what.slice(0, room) : what}${end}`;
}
