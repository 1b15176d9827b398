/** Shows a call's live output, and keeps track of what was shown. */
import type { Progress } from "@matrx/shared/content.ts";
import { toolOutput } from "./print.ts";
import { ProgressLine } from "./progress-line.ts";

export interface LiveOutput {
  /** `offset` is where `data` begins in the job's log, in bytes. */
  show(channel: "stdout" | "stderr", offset: number, data: string): void;
  /** Shows how far the call is. */
  progress(progress: Progress): void;
  /** Notes that something is missing. */
  gap(): void;
  /** The call has ended. */
  end(): void;
  /** Bytes written without a gap, from the beginning. */
  readonly exactTo: number;
  /** Whether nothing is missing. */
  readonly isWhole: boolean;
}

/** For a person: everything that arrives, and a note if something is missing. */
export class LiveOnTerminal implements LiveOutput {
  readonly exactTo = 0;
  #next: number | undefined;
  #gaps = false;
  readonly #far = new ProgressLine();

  show(channel: "stdout" | "stderr", offset: number, data: string): void {
    // Bytes that are not UTF-8 arrive as U+FFFD, which takes three bytes: only a jump forward is a gap.
    if (offset > (this.#next ?? 0)) this.gap();
    this.#next = offset + Buffer.byteLength(data);
    this.#far.clear();
    process[channel].write(toolOutput(data, process[channel]));
  }

  progress(progress: Progress): void {
    this.#far.show(progress);
  }

  end(): void {
    this.#far.clear();
  }

  gap(): void {
    if (!this.#gaps && this.#next !== undefined)
      process.stderr.write("\n[some output was left out on the way]\n");
    this.#gaps = true;
  }

  get isWhole(): boolean {
    return this.#next !== undefined && !this.#gaps;
  }
}

/** For a program: each byte once and in order. Stops at the first gap; the rest is fetched at the end. */
export class LiveInPipe implements LiveOutput {
  readonly isWhole = false;
  #exactTo = 0;
  #goesOn = true;
  readonly #far = new ProgressLine();

  show(_channel: "stdout" | "stderr", offset: number, data: string): void {
    const isExact = offset === this.#exactTo && !data.includes("\u{fffd}");
    if (!isExact || process.stdout.writableNeedDrain) this.#goesOn = false;
    if (!this.#goesOn) return;
    this.#exactTo += Buffer.byteLength(data);
    process.stdout.write(data);
  }

  progress(progress: Progress): void {
    this.#far.show(progress);
  }

  end(): void {
    this.#far.clear();
  }

  gap(): void {
    this.#goesOn = false;
  }

  get exactTo(): number {
    return this.#exactTo;
  }
}
