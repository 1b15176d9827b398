/** Filters lines by a caller's regular expression, in a thread that is terminated if the expression takes too long. */
import { Worker } from "node:worker_threads";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";

/** Time for all lines together once the thread has started, in milliseconds. */
const BUDGET = 1000;
/** How many characters of a line are matched. */
const LINE_CHARS = 10_000;

/** Throws MatrxError `INVALID_PARAMETERS`. */
export function checkPattern(pattern: string, field = "filter"): void {
  try {
    new RegExp(pattern);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "it is not valid";
    throw badPattern(field, why, "Correct the regular expression (JavaScript's syntax)", cause);
  }
}

/** Which lines match. Throws MatrxError when the pattern takes too long. */
export async function matchingLines(
  pattern: string,
  lines: readonly string[],
  field = "filter",
): Promise<boolean[]> {
  const shortened = lines.map((line) => line.slice(0, LINE_CHARS));
  const worker = new Worker(THREAD, { eval: true, workerData: { pattern, lines: shortened } });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<boolean[]>((resolve, reject) => {
      worker.on("message", (message: boolean[] | "begun") => {
        if (message !== "begun") resolve(message);
        else timer = setTimeout(() => reject(tooSlow(field)), BUDGET);
      });
      worker.once("error", reject);
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
parentPort.postMessage("begun");
const pattern = new RegExp(workerData.pattern);
parentPort.postMessage(workerData.lines.map((line) => pattern.test(line)));
`;

function tooSlow(field: string): MatrxError {
  return badPattern(
    field,
    `the expression took longer than ${BUDGET} ms`,
    "Use a simpler one, without nested repetition such as (a+)+",
  );
}

function badPattern(field: string, why: string, hint: string, cause?: unknown): MatrxError {
  return toolError("INVALID_PARAMETERS", `${field}: ${why}`, { hint, details: { field }, cause });
}
