/** Says on stderr that something takes its time: nothing in the first second, then the seconds. */

const FIRST_AFTER = 1000;

/** Waits for a promise; `what` is shown once it takes more than a second. */
export async function withProgress<Value>(what: string, work: Promise<Value>): Promise<Value> {
  const began = performance.now();
  const terminal = process.stderr.isTTY;
  let shown = false;
  const show = () => {
    const seconds = Math.round((performance.now() - began) / 1000);
    if (terminal) process.stderr.write(`\r\u001b[K${what} ... ${seconds} s`);
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
