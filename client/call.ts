/** One call from asking to its end, through connections that break and a relay that wants a rest. */
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import type { MatrxError } from "@matrx/shared/errors.ts";
import { errorIn, notSent, RELAY, unanswered, unsupported } from "./errors.ts";
import { pause } from "./pause.ts";
import type { Attempt, CallListener, CallRequest, Transport } from "./transport.ts";
import { whenTaken } from "./when-taken.ts";

/** How often a call is sent if the connection breaks. */
const TRIES = 3;
/** In milliseconds. */
const AGAIN_AFTER = 1000;

/** `left`: its caller hears no more of it, and it goes on; `call` is its name, if that is known. */
export type CallEnd =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "left"; readonly call: string | undefined };

/**
 * Makes a call and waits for its end. For the relay's rate, it waits `rateWaitMs` milliseconds at most. Throws MatrxError: it was
 * refused, or its outcome is not known.
 */
export function makeCall(
  transport: Transport,
  request: CallRequest,
  listener: CallListener,
  rateWaitMs: number,
): Promise<CallEnd> {
  return new CallRun(transport, request, listener, rateWaitMs).run();
}

/** Waits for the end of a call that was made before, by its name. Throws MatrxError. */
export async function followedCall(
  transport: Transport,
  call: string,
  listener: CallListener,
): Promise<CallEnd> {
  const { follow, host = RELAY } = transport;
  if (!follow) throw unsupported("records of calls");
  const over = AbortSignal.any([listener.stop, listener.leave]);
  for (;;) {
    const attempt = await follow(call, listener);
    if (attempt.kind === "answer") return attempt;
    if (listener.leave.aborted) return { kind: "left", call };
    const facts = { isRead: false, idempotencyKey: undefined, call };
    if (listener.stop.aborted) throw unanswered({ ...facts, why: "cancelled", host, isStopped: true });
    await pause(AGAIN_AFTER, over);
  }
}

class CallRun {
  readonly #transport: Transport;
  readonly #request: CallRequest;
  readonly #listener: CallListener;
  readonly #rateWaitMs: number;
  readonly #over: AbortSignal;
  #name: string | undefined;
  #isSent = false;

  constructor(transport: Transport, request: CallRequest, listener: CallListener, rateWaitMs: number) {
    this.#transport = transport;
    this.#request = request;
    this.#rateWaitMs = rateWaitMs;
    const onName = (call: string) => {
      this.#name = call;
      listener.onName(call);
    };
    this.#listener = { ...listener, onName };
    this.#over = AbortSignal.any([listener.stop, listener.leave]);
  }

  async run(): Promise<CallEnd> {
    for (let tries = 1; ; tries++) {
      const attempt = await this.#whenTaken().catch((error: unknown) => {
        if (this.#listener.leave.aborted) return undefined;
        throw error;
      });
      if (attempt?.kind === "answer") return attempt;
      if (!attempt || this.#listener.leave.aborted) return { kind: "left", call: this.#name };
      if (attempt.kind === "pending")
        return await followedCall(this.#transport, attempt.call, this.#listener);
      this.#isSent ||= attempt.sent;
      if (this.#mustFollow && this.#name !== undefined)
        return await followedCall(this.#transport, this.#name, this.#listener);
      const isStopped = this.#listener.stop.aborted;
      if (isStopped || tries === TRIES || (this.#isSent && !this.#isRepeatable))
        throw this.#lost(attempt.why, isStopped);
      await this.#again();
    }
  }

  #whenTaken(): Promise<Attempt> {
    return whenTaken(() => this.#transport.attempt(this.#request, this.#listener), {
      errorIn: (attempt) => (attempt.kind === "answer" ? errorIn(attempt.answer) : undefined),
      signal: this.#over,
      waitMs: this.#rateWaitMs,
    });
  }

  async #again(): Promise<void> {
    this.#listener.onEvent({ type: "gap", frames: 0 });
    await pause(AGAIN_AFTER, this.#over);
  }

  get #isRepeatable(): boolean {
    return this.#request.isRead || this.#request.idempotencyKey !== undefined;
  }

  get #mustFollow(): boolean {
    return this.#isSent && !this.#isRepeatable && this.#transport.follow !== undefined;
  }

  #lost(why: string, isStopped: boolean): MatrxError {
    const { host = RELAY } = this.#transport;
    if (!this.#isSent && this.#name === undefined) return notSent(why, host, isStopped);
    const { isRead, idempotencyKey } = this.#request;
    return unanswered({ why, host, isStopped, isRead, idempotencyKey, call: this.#name });
  }
}
