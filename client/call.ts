/** One call from asking to its end, through connections that break and a relay that wants a rest. */
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import type { MatrxError } from "@matrx/shared/errors.ts";
import { errorIn, notSent, RELAY, unanswered, unsupported } from "./errors.ts";
import { pause } from "./pause.ts";
import type { Attempt, CallListener, CallRequest, Transport } from "./transport.ts";
import { whenTaken } from "./when-taken.ts";

/** In milliseconds. */
const AGAIN_AFTER = 1000;

/** `left`: its caller hears no more of it, and it goes on; `call` is its name, if that is known. */
export type CallEnd =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "left"; readonly call: string | undefined };

/** How long a call is tried where it does not get through. */
export interface Persistence {
  /** The longest that it waits for the relay's rate, in milliseconds. */
  readonly rateWaitMs: number;
  /** How often it is sent at most if the connection breaks. */
  readonly tries: number;
  /** Whether one that changes something and has a name is not sent again: its record is asked until the relay is back. */
  readonly followsByName: boolean;
}

/** Makes a call and waits for its end. Throws MatrxError: it was refused, or its outcome is not known. */
export function makeCall(
  transport: Transport,
  request: CallRequest,
  listener: CallListener,
  persistence: Persistence,
): Promise<CallEnd> {
  return new CallRun(transport, request, listener, persistence).run();
}

/** Waits for the end of a call that was made before, by its name. Throws MatrxError. */
export async function followedCall(
  transport: Transport,
  call: string,
  listener: CallListener,
): Promise<CallEnd> {
  const { follow, host = RELAY } = transport;
  if (!follow) throw unsupported("records of calls", "Connect through the relay, which keeps them");
  const over = AbortSignal.any([listener.stop, listener.leave]);
  for (;;) {
    const attempt = await follow(call, listener);
    if (attempt.kind === "answer") return attempt;
    if (listener.leave.aborted) return { kind: "left", call };
    const facts = { isRead: false, idempotencyKey: undefined, call };
    const isStopped = listener.stop.aborted;
    if (isStopped) throw unanswered({ ...facts, why: "cancelled", host, isStopped });
    if (attempt.kind === "lost") listener.onTrouble({ why: attempt.why, next: "ask" });
    await pause(AGAIN_AFTER, over);
  }
}

type Lost = Extract<Attempt, { kind: "lost" }>;

class CallRun {
  readonly #transport: Transport;
  readonly #request: CallRequest;
  readonly #listener: CallListener;
  readonly #persistence: Persistence;
  readonly #over: AbortSignal;
  #name: string | undefined;
  #isSent = false;

  constructor(transport: Transport, request: CallRequest, listener: CallListener, persistence: Persistence) {
    this.#transport = transport;
    this.#request = request;
    this.#persistence = persistence;
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
      const { why } = attempt;
      this.#isSent ||= attempt.sent;
      if (this.#mustFollow && this.#name !== undefined) {
        this.#listener.onTrouble({ why, next: "ask" });
        return await followedCall(this.#transport, this.#name, this.#listener);
      }
      const isStopped = this.#listener.stop.aborted;
      if (isStopped || tries === this.#persistence.tries || (this.#isSent && !this.#isRepeatable))
        throw this.#lost(attempt, isStopped);
      this.#listener.onTrouble({ why, next: "send" });
      await this.#again();
    }
  }

  #whenTaken(): Promise<Attempt> {
    return whenTaken(() => this.#transport.attempt(this.#request, this.#listener), {
      errorIn: (attempt) => (attempt.kind === "answer" ? errorIn(attempt.answer) : undefined),
      signal: this.#over,
      waitMs: this.#persistence.rateWaitMs,
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
    if (!this.#isSent || this.#transport.follow === undefined) return false;
    return !this.#isRepeatable || (this.#persistence.followsByName && !this.#request.isRead);
  }

  #lost({ why, cause }: Lost, isStopped: boolean): MatrxError {
    const { host = RELAY } = this.#transport;
    if (!this.#isSent && this.#name === undefined) return notSent(why, host, isStopped, cause);
    const { isRead, idempotencyKey } = this.#request;
    return unanswered({ why, host, isStopped, isRead, idempotencyKey, call: this.#name, cause });
  }
}
