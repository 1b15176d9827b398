/** How far a call is, on stderr: one line that is written over on a terminal, else one line for each new message. */
import type { Progress } from "@matrx/shared/content.ts";
import { isQuietRun, oneLine } from "./print.ts";
import { fitted } from "./progress.ts";

const CLEAR = "\r\u001b[K";

export class ProgressLine {
  #shown = false;
  #message: string | undefined;

  show(progress: Progress): void {
    if (isQuietRun()) return;
    const text = progressText(progress);
    if (process.stderr.isTTY) process.stderr.write(`${CLEAR}${fitted(text, "", process.stderr.columns)}`);
    else if (progress.message !== this.#message) process.stderr.write(`${text}\n`);
    this.#shown = process.stderr.isTTY;
    this.#message = progress.message;
  }

  /** Makes room for other text. */
  clear(): void {
    if (this.#shown) process.stderr.write(CLEAR);
    this.#shown = false;
  }
}

/** `40% compiling`, or without a total `40 compiling`. */
export function progressText({ progress, total, message }: Progress): string {
  const share = total !== undefined && total > 0 ? Math.round((100 * progress) / total) : undefined;
  const far = share === undefined ? String(progress) : `${Math.min(100, Math.max(0, share))}%`;
  return message ? `${far} ${oneLine(message)}` : far;
}
