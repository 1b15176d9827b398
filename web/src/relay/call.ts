/** One call of a tool, from asking to its end, through connections that break. */
import type { toolDescriptionSchema } from "@matrx/shared/tool.ts";
import type * as z from "zod";
import { api, openEvents } from "./api.ts";
import { ApiError } from "./api-error.ts";
import { type CallAnswer, type CallEvent, eventsOf } from "./call-events.ts";

/** Pause before the relay is asked again what became of a call, in milliseconds. */
const AGAIN = 2000;
/** How often a call is sent again to a relay that did not answer: by its key the relay knows it, and makes it once. */
const MOST_RETRIES = 5;
/** The session is over, may not read the call, or there is no record of it. */
const FINAL_STATUSES = [401, 403, 404];

export type Tool = Pick<z.infer<typeof toolDescriptionSchema>, "name" | "effect">;

export interface CallListener {
  /** It is on its way. */
  onCall(): void;
  /** Output, a gap in it, progress, or a question to a person. */
  onEvent(event: CallEvent): void;
  /** What stands in the way. */
  onTrouble(text: string): void;
}

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
    if (this.#id === undefined) return;
    const path = { device: this.device, call: this.#id };
    await api("POST /v1/devices/{device}/calls/{call}/cancel", { path });
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
    const open = () =>
      openEvents("POST /v1/devices/{device}/tools/{tool}", { path, body: input }, signal, headers);
    for (let retries = 0; ; retries++) {
      try {
        return await this.#follow(open, listener);
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 0 || !this.hasEffect) throw error;
        if (retries === MOST_RETRIES) throw unclearError();
      }
      listener.onTrouble("Can't reach the relay. Making sure that it got the call …");
      await this.#pause();
    }
  }

  /** The outcome of a call whose connection broke, once the relay can be reached. */
  async #ask(listener: CallListener): Promise<CallAnswer> {
    if (!this.hasEffect || this.#id === undefined) throw brokenReadError(this.tool.name);
    const path = { device: this.device, call: this.#id };
    const open = () => openEvents("GET /v1/devices/{device}/calls/{call}", { path }, this.#leaving.signal);
    listener.onTrouble("Connection lost. Asking the relay for the result …");
    for (;;) {
      try {
        const answer = await this.#follow(open, listener);
        if (answer) return answer;
      } catch (error) {
        if (this.#leaving.signal.aborted || !(error instanceof ApiError)) throw error;
        if (FINAL_STATUSES.includes(error.status)) throw error;
        listener.onTrouble(`${error.message} Asking again for the result …`);
      }
      await this.#pause();
    }
  }

  /** Reads the events of a call. Undefined: the connection broke before its end. */
  async #follow(open: () => Promise<Response>, { onCall, onEvent, onTrouble }: CallListener) {
    const response = await open();
    const isNamed = this.#id !== undefined;
    this.#id = response.headers.get("Matrx-Call") ?? this.#id;
    onCall();
    if (this.#isUnwanted && !isNamed) this.stop().catch((error: Error) => onTrouble(error.message));
    for await (const event of eventsOf(response)) {
      if (event.kind === "answer") return event.answer;
      onEvent(event.event);
    }
    this.#leaving.signal.throwIfAborted();
    return undefined;
  }

  /** Ends early, with an error, when the reader leaves. */
  #pause(): Promise<void> {
    const { signal } = this.#leaving;
    return new Promise((resolve, reject) => {
      setTimeout(resolve, AGAIN);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      if (signal.aborted) reject(signal.reason);
    });
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
