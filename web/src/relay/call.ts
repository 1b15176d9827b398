/** One call of a tool, from asking to its end, through connections that break. */
import type { toolDescriptionSchema } from "@matrx/shared/tool.ts";
import type * as z from "zod";
import { openEvents } from "./api.ts";
import { ApiError } from "./api-error.ts";
import type { CallAnswer } from "./call-events.ts";
import { answerIn, type CallListener, followCall, pause, stopCall } from "./known-call.ts";

/** How often a call is sent again to a relay that did not answer: by its key the relay knows it, and makes it once. */
const MOST_RETRIES = 5;

export type Tool = Pick<z.infer<typeof toolDescriptionSchema>, "name" | "effect">;

export class Call {
  readonly device: string;
  readonly tool: Tool;
  readonly #leaving = new AbortController();
  readonly #key = crypto.randomUUID();
  /** Its name at the relay, once that is known. */
  #id: string | undefined;
  /** Somebody wants it stopped. */
  #isUnwanted = false;

  /** Nothing is sent before `run`. */
  constructor(device: string, tool: Tool) {
    this.device = device;
    this.tool = tool;
  }

  get id(): string | undefined {
    return this.#id;
  }

  /** It is made once, so a connection that breaks does not end it. */
  get hasEffect(): boolean {
    return this.tool.effect !== "read";
  }

  /** Makes the call and resolves to its answer. Throws ApiError; resolves to undefined after `leave`. */
  async run(input: Record<string, unknown>, listener: CallListener): Promise<CallAnswer | undefined> {
    try {
      return (await this.#make(input, listener)) ?? (await this.#ask(listener));
    } catch (error) {
      if (this.#leaving.signal.aborted) return undefined;
      throw error;
    }
  }

  /** Asks the machine to stop it: at once, or as soon as the relay has named it. Throws ApiError. */
  async stop(): Promise<void> {
    this.#isUnwanted = true;
    if (this.#id !== undefined) await stopCall({ device: this.device, call: this.#id });
  }

  /** Reads no more. The relay then stops what only reads; the rest goes on. */
  leave(): void {
    this.#leaving.abort();
  }

  /** Undefined when the connection broke after the call was made. */
  async #make(input: Record<string, unknown>, listener: CallListener): Promise<CallAnswer | undefined> {
    const path = { device: this.device, tool: this.tool.name };
    const { signal } = this.#leaving;
    const headers = { "Idempotency-Key": this.#key };
    for (let retries = 0; ; retries++) {
      try {
        const line = "POST /v1/devices/{device}/tools/{tool}";
        const response = await openEvents(line, { path, body: input }, signal, headers);
        this.#named(response.headers.get("Matrx-Call"), listener);
        return await answerIn(response, listener, signal);
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 0 || !this.hasEffect) throw error;
        if (retries === MOST_RETRIES) throw unclearError();
      }
      listener.onTrouble("Can't reach the relay. Making sure that it got the call …");
      await pause(signal);
    }
  }

  #named(id: string | null, { onCall, onTrouble }: CallListener): void {
    const isNew = this.#id === undefined;
    this.#id = id ?? this.#id;
    onCall();
    if (this.#isUnwanted && isNew) this.stop().catch((error: Error) => onTrouble(error.message));
  }

  /** The outcome of a call whose connection broke, once the relay can be reached. */
  async #ask(listener: CallListener): Promise<CallAnswer> {
    if (!this.hasEffect || this.#id === undefined) throw brokenReadError(this.tool.name);
    listener.onTrouble("Connection lost. Asking the relay for the result …");
    return followCall({ device: this.device, call: this.#id }, listener, this.#leaving.signal);
  }
}

function unclearError(): ApiError {
  return new ApiError(0, {
    code: "OUTCOME_UNKNOWN",
    detail: "The relay didn't answer, so it is unclear whether the call was made.",
    hint: "Check what it changed before you run it again.",
  });
}

/** The connection broke while a tool only read. */
export function brokenReadError(tool: string): ApiError {
  return new ApiError(0, {
    detail: "Lost the connection before the answer arrived.",
    hint: `${tool} only reads, so nothing was changed: just run it again.`,
  });
}
