/** How far one call is, for its caller: the first report at once, then the newest one of each interval. Never queued. */
import type { Progress } from "@matrx/shared/content.ts";
import { TIMES } from "@matrx/shared/limits.ts";

const MESSAGE_CHARS = 1000;

export class LiveProgress {
  readonly #send: (progress: Progress) => void;
  #newest: Progress | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(send: (progress: Progress) => void) {
    this.#send = send;
  }

  /** Takes a report; one that is no number is ignored. */
  report({ progress, total, message }: Progress): void {
    if (this.#closed || !Number.isFinite(progress)) return;
    this.#newest = {
      progress,
      ...(total !== undefined && Number.isFinite(total) && { total }),
      ...(message !== undefined && { message: message.slice(0, MESSAGE_CHARS).toWellFormed() }),
    };
    if (this.#timer === undefined) this.#flush();
  }

  /** Sends what is left, and nothing after that. */
  close(): void {
    this.#closed = true;
    this.#flush();
    clearTimeout(this.#timer);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#newest) return;
    this.#send(this.#newest);
    this.#newest = undefined;
    this.#timer = setTimeout(() => this.#flush(), TIMES.progressEvery);
  }
}
