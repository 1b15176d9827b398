/** One call of a tool, from asking to its end, through connections that break. */
import { makeCall } from "@matrx/client/call.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { toolDescriptionSchema } from "@matrx/shared/tool.ts";
import type * as z from "zod";
import { ApiError } from "./api-error.ts";
import type { CallAnswer } from "./call-events.ts";
import { transportTo, unwrapped } from "./call-transport.ts";
import { type CallListener, heardBy, stopCall } from "./known-call.ts";

/** A call that changes something is sent so often to a relay that does not answer: by its key the relay makes it once. */
const MOST_TRIES = 11;

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
    const { hasEffect } = this;
    const key = hasEffect ? this.#key : undefined;
    const request = { tool: this.tool.name, input, isRead: !hasEffect, idempotencyKey: key, live: true };
    const heard = heardBy(listener, this.#leaving.signal);
    const onName = (id: string) => {
      this.#named(id, listener);
      heard.onName(id);
    };
    const persistence = { rateWaitMs: 0, tries: hasEffect ? MOST_TRIES : 1, followsByName: true };
    try {
      const end = await makeCall(transportTo(this.device), request, { ...heard, onName }, persistence);
      return end.kind === "answer" ? end.answer : undefined;
    } catch (error) {
      throw this.#problemOf(error);
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

  #named(id: string, { onTrouble }: CallListener): void {
    const isNew = this.#id === undefined;
    this.#id = id;
    if (this.#isUnwanted && isNew) this.stop().catch((error: Error) => onTrouble(error.message));
  }

  #problemOf(error: unknown): unknown {
    const cause = unwrapped(error);
    if (!(error instanceof MatrxError) || (cause instanceof ApiError && cause.status !== 0)) return cause;
    if (error.code === "OUTCOME_UNKNOWN") return unclearError();
    return cause instanceof ApiError ? cause : brokenReadError(this.tool.name);
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
