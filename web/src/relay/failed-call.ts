/** A call that was answered with an error, for whoever waits for what it gives. */
import type { CallAnswer } from "./call-events.ts";

/** Has the answer's code, hint and hop. */
export class FailedCall extends Error {
  readonly code: string | undefined;
  readonly hint: string | undefined;
  readonly hop: string | undefined;

  constructor({ output, code, hint, hop }: CallAnswer) {
    super(output);
    this.code = code;
    this.hint = hint;
    this.hop = hop;
  }
}
