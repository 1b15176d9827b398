/** The proof that a device works: its last real answer. Kept in its socket's attachment, and in storage when the link ends. */
import type { Proof } from "@matrx/shared/api.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";

/** Mutated in place, because every answer updates it; the time is only formatted when somebody asks. */
export class LastProof {
  #at = 0;
  #verdict: Proof["verdict"] = "success";
  #tool = "";
  #ms = 0;

  /** Notes an answer to a call of `tool`, which is empty if only the device knows it. */
  note({ status, tool: answered = "", ms }: ResultHeader, tool: string, now: number): void {
    this.#at = now;
    this.#verdict = status;
    this.#tool = tool || answered;
    this.#ms = ms;
  }

  /** Restores the proof after hibernation. */
  restore({ at, verdict, tool, ms }: Proof): void {
    this.#at = Date.parse(at);
    this.#verdict = verdict;
    this.#tool = tool;
    this.#ms = ms;
  }

  /** Null if the device has not answered since it was last restored. */
  get view(): Proof | null {
    if (this.#at === 0) return null;
    return { at: new Date(this.#at).toISOString(), verdict: this.#verdict, tool: this.#tool, ms: this.#ms };
  }
}
