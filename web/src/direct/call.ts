/** One call of a tool at this computer, without the relay: from asking to its end, through connections that break. */
import { makeCall } from "@matrx/client/call.ts";
import type { Transport } from "@matrx/client/transport.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { ApiError } from "../relay/api-error.ts";
import { brokenReadError, type Tool } from "../relay/call.ts";
import type { CallAnswer } from "../relay/call-events.ts";
import { type CallListener, heardBy } from "../relay/known-call.ts";
import { notConnectedError, untilConnected } from "./connection.ts";
import { useDirect } from "./local.ts";

/** How long a call waits for the connection before its outcome counts as unclear, in milliseconds. */
const WAITS_FOR = 60_000;

export class DirectCall {
  /** The relay knows nothing of it. */
  readonly id = undefined;
  readonly #tool: Tool;
  /** By it the computer knows the call, and runs it once: a page that is loaded again can ask by it. */
  readonly name: string;
  readonly #leaving = new AbortController();
  readonly #stopping = new AbortController();

  /** Nothing is sent before `run`, or `again`. `name`: of a call that was made before. */
  constructor(tool: Tool, name: string = crypto.randomUUID()) {
    this.#tool = tool;
    this.name = name;
  }

  /** Makes the call and resolves to its answer. Throws ApiError; resolves to undefined after `leave`. */
  async run(input: Record<string, unknown>, listener: CallListener): Promise<CallAnswer | undefined> {
    if (useDirect.getState().state !== "online") throw notConnectedError();
    return await this.again(input, listener);
  }

  /** Goes on with one that was made before the page was loaded, and has an effect. Throws ApiError. */
  async again(input: Record<string, unknown>, listener: CallListener): Promise<CallAnswer | undefined> {
    const isRead = this.#tool.effect === "read";
    const key = isRead ? undefined : this.name;
    const request = { tool: this.#tool.name, input, isRead, idempotencyKey: key, live: true };
    const heard = {
      ...heardBy(listener, this.#leaving.signal),
      onTrouble: () =>
        listener.onTrouble("Connection lost. Asking this computer for the result as soon as it answers …"),
      stop: this.#stopping.signal,
    };
    const persistence = { rateWaitMs: 0, tries: isRead ? 1 : Number.POSITIVE_INFINITY, followsByName: false };
    try {
      const end = await makeCall(this.#transport(listener), request, heard, persistence);
      return end.kind === "answer" ? end.answer : undefined;
    } catch (error) {
      throw this.#problemOf(error);
    }
  }

  /** Asks the computer to stop it. Without a connection, its result is waited for no more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
  }

  /** Reads no more. What only reads is stopped; the rest goes on. */
  leave(): void {
    this.#leaving.abort();
  }

  #problemOf(error: unknown): unknown {
    if (!(error instanceof MatrxError)) return error;
    return error.code === "PAYLOAD_TOO_LARGE" ? tooLargeError() : this.#lostError();
  }

  #lostError(): ApiError {
    return this.#tool.effect === "read" ? brokenReadError(this.#tool.name) : unclearError();
  }

  /** Over the connection there is, or the next one. */
  #transport({ onCall }: CallListener): Transport {
    return {
      session: undefined,
      attempt: async (request, heard) => {
        const enough = AbortSignal.any([heard.stop, heard.leave, AbortSignal.timeout(WAITS_FOR)]);
        const connection = await untilConnected(enough);
        if (!connection) throw this.#lostError();
        onCall();
        return await connection.call(request, heard);
      },
      close: () => undefined,
    };
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
