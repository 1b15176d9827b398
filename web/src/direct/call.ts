/** One call of a tool at this computer, without the relay: from asking to its end, through connections that break. */
import { ApiError } from "../relay/api-error.ts";
import { brokenReadError, type Tool } from "../relay/call.ts";
import type { CallAnswer } from "../relay/call-events.ts";
import type { CallListener } from "../relay/known-call.ts";
import { dropCall, sendCall, sendCancel } from "./connection.ts";
import { untilOnline } from "./until-online.ts";

/** The server reads no longer frames, in bytes. */
const MOST_BYTES = 4 * 1024 * 1024;
/** How long a call waits for the connection before its outcome counts as unclear, in milliseconds. */
const WAITS_FOR = 60_000;

export class DirectCall {
  /** The relay knows nothing of it. */
  readonly id = undefined;
  readonly #tool: Tool;
  /** Its name on the connection: a page that is loaded again can ask by it. */
  readonly name: string;
  readonly #leaving = new AbortController();
  readonly #givingUp = new AbortController();

  /** Nothing is sent before `run`, or `again`. `name`: of a call that was made before. */
  constructor(tool: Tool, name: string = crypto.randomUUID()) {
    this.#tool = tool;
    this.name = name;
  }

  /** Makes the call and resolves to its answer. Throws ApiError; resolves to undefined after `leave`. */
  async run(input: Record<string, unknown>, listener: CallListener): Promise<CallAnswer | undefined> {
    const text = this.#frame(input);
    if (new Blob([text]).size > MOST_BYTES) throw tooLargeError();
    const answer = await this.#exchange(text, listener);
    if (answer || this.#leaving.signal.aborted) return answer;
    if (!this.#hasEffect) throw brokenReadError(this.#tool.name);
    return this.#askAgain(text, listener);
  }

  /** Goes on with one that was made before the page was loaded, and has an effect. Throws ApiError. */
  again(input: Record<string, unknown>, listener: CallListener): Promise<CallAnswer | undefined> {
    return this.#askAgain(this.#frame(input), listener);
  }

  /** Asks the computer to stop it. Without a connection, its result is waited for no more. */
  async stop(): Promise<void> {
    if (!sendCancel(this.name)) this.#givingUp.abort();
  }

  /** Reads no more. What only reads is stopped; the rest goes on. */
  leave(): void {
    if (!this.#hasEffect) sendCancel(this.name);
    dropCall(this.name);
    this.#leaving.abort();
  }

  #frame(input: Record<string, unknown>): string {
    return JSON.stringify({
      ...{ id: this.name, tool: this.#tool.name, input, stream: true },
      // The computer then runs it once, however often it is asked.
      ...(this.#hasEffect && { idempotency_key: this.name }),
    });
  }

  get #hasEffect(): boolean {
    return this.#tool.effect !== "read";
  }

  /** Undefined: the connection broke, or its reader left. Throws ApiError: nothing was sent. */
  #exchange(text: string, { onCall, onEvent }: CallListener): Promise<CallAnswer | undefined> {
    return new Promise((resolve) => {
      this.#leaving.signal.addEventListener("abort", () => resolve(undefined), { once: true });
      sendCall(this.name, text, { onEvent, onEnd: resolve });
      onCall();
    });
  }

  async #askAgain(text: string, listener: CallListener): Promise<CallAnswer | undefined> {
    const { signal: left } = this.#leaving;
    const enough = AbortSignal.any([left, this.#givingUp.signal, AbortSignal.timeout(WAITS_FOR)]);
    for (;;) {
      listener.onTrouble("Connection lost. Asking this computer for the result as soon as it answers …");
      const isOnline = await untilOnline(enough);
      if (left.aborted) return undefined;
      if (!isOnline) throw unclearError();
      const answer = await this.#exchange(text, listener).catch(() => undefined);
      if (answer || left.aborted) return answer;
    }
  }
}

function unclearError(): ApiError {
  return new ApiError(0, {
    code: "OUTCOME_UNKNOWN",
    detail: "Lost the connection to this computer before the answer arrived.",
    hint: "Check what the call changed before you run it again.",
  });
}

function tooLargeError(): ApiError {
  return new ApiError(0, {
    detail: "This is more than one call may carry (4 MiB).",
    hint: "Put it into a file on the computer, and name the file.",
  });
}
