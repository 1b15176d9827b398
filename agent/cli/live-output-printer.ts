import { toolOutput } from "./print.ts";

/** Writes a call's live output to the terminal, and knows whether it was all of it. */
export class LiveOutputPrinter {
  #next: number | undefined;
  #gaps = false;

  show(channel: "stdout" | "stderr", offset: number, data: string): void {
    // Bytes that are no UTF-8 arrive as characters of three: only a jump forward is a gap.
    if (offset > (this.#next ?? 0)) this.gap();
    this.#next = offset + Buffer.byteLength(data);
    process[channel].write(toolOutput(data, process[channel]));
  }

  /** Something is missing: the answer's own output is to be shown as well. */
  gap(): void {
    if (!this.#gaps && this.#next !== undefined)
      process.stderr.write("\n[some output was left out on the way]\n");
    this.#gaps = true;
  }

  get isWhole(): boolean {
    return this.#next !== undefined && !this.#gaps;
  }
}
