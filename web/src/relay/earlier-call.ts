/** A call that was made before the page was loaded: the relay's record says how it stands, and one that runs is followed. */
import { pause } from "@matrx/client/pause.ts";
import { answerIn } from "./answer.ts";
import { api } from "./api.ts";
import { ApiError } from "./api-error.ts";
import type { CallAnswer } from "./call-events.ts";
import { FINAL } from "./call-transport.ts";
import { type CallListener, followCall, isOver, type KnownCall, stopCall } from "./known-call.ts";
import type { Answer } from "./routes.ts";

/** Pause before the relay is asked again, in milliseconds. */
const AGAIN = 2000;

type CallRecord = Answer<"GET /v1/devices/{device}/calls/{call}">;

/** How a call ended. */
export interface CallEnd extends Pick<CallAnswer, "type" | "code" | "metadata"> {
  /** Undefined: it is no longer kept, or only at a machine that can't be asked now. */
  readonly answer: CallAnswer | undefined;
  /** In milliseconds; undefined: it ended just now. */
  readonly took?: number;
}

export class EarlierCall {
  readonly #known: KnownCall;
  readonly #leaving = new AbortController();

  constructor(known: KnownCall) {
    this.#known = known;
  }

  get id(): string {
    return this.#known.call;
  }

  /** Resolves to how it ended, once it has; to undefined after `leave`. Throws ApiError, with 404 if the relay does not know it. */
  async end(listener: CallListener): Promise<CallEnd | undefined> {
    const { signal } = this.#leaving;
    try {
      const record = await this.#record(listener);
      if (isOver(record)) return await this.#endOf(record, listener);
      const answer = await followCall(this.#known, listener, signal);
      return answer && endBy(answer);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  /** Throws ApiError. */
  stop(): Promise<void> {
    return stopCall(this.#known);
  }

  /** Reads no more. */
  leave(): void {
    this.#leaving.abort();
  }

  /** Asked for until the relay can be reached. Throws ApiError; the signal's reason after `leave`. */
  async #record({ onTrouble }: CallListener): Promise<CallRecord> {
    const { signal } = this.#leaving;
    for (;;) {
      try {
        const record = await api("GET /v1/devices/{device}/calls/{call}", { path: { ...this.#known } });
        signal.throwIfAborted();
        return record;
      } catch (error) {
        if (!(error instanceof ApiError) || FINAL.has(error.status)) throw error;
        onTrouble(`${error.message} Asking again for the result …`);
      }
      await pause(AGAIN, signal);
      signal.throwIfAborted();
    }
  }

  async #endOf(record: CallRecord, listener: CallListener): Promise<CallEnd | undefined> {
    const { state, status, code, created, finished, outcome, outcome_in: place } = record;
    const took = Date.parse(finished ?? created) - Date.parse(created);
    const kept = answerIn(outcome);
    if (kept) return { ...endBy(kept), took };
    const type = status === "success" ? "success" : "error";
    const stood = { type, answer: undefined, took, ...(code && { code }) } as const;
    if (state === "finished" && place === null) return stood;
    // It is in the machine's journal, or the relay says in words why there is none.
    const answer = await followCall(this.#known, listener, this.#leaving.signal);
    if (!answer) return undefined;
    const isOther = state === "finished" && (answer.type !== type || answer.code !== stood.code);
    return isOther ? stood : { ...endBy(answer), took };
  }
}

export function endBy(answer: CallAnswer): CallEnd {
  const { type, code, metadata } = answer;
  return { type, answer, ...(code && { code }), ...(metadata && { metadata }) };
}
