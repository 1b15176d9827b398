/** Asks the person at the terminal. */
import { createInterface } from "node:readline/promises";
import { usageError } from "./failure.ts";

/** Asks a question; only `y` or `yes` mean yes. */
export async function askYesNo(question: string, signal: AbortSignal): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal });
    return /^y(es)?$/i.test(answer.trim());
  } catch {
    return false;
  } finally {
    terminal.close();
  }
}

/** Throws MatrxError if there is no terminal; `hint` says what to do then. */
export function requireAnswer(hint: string): void {
  if (!process.stdin.isTTY) throw usageError("Can't ask for confirmation: stdin is not a terminal", hint);
}
