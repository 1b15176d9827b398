/** REST at the device: a call that is waited for, or answered later under its URL. */
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import type { CallId, SessionId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import type { Admission } from "./admission.ts";
import type { Lease } from "./leases.ts";
import { type Recipient, withId } from "./recipient.ts";

/** A call as the Worker passes it on. */
export interface RestCall {
  call: CallId;
  tool: string;
  /** JSON of the input. */
  parameters: string;
  session?: SessionId | undefined;
  timeoutMs?: number | undefined;
  key?: string | undefined;
}

export type RestAnswer =
  | {
      kind: "answer";
      call: CallId;
      status: ResultHeader["status"];
      code?: ResultHeader["code"];
      body: Uint8Array;
    }
  | { kind: "refused"; call: CallId; error: ErrorShape }
  /** Not finished after 60 seconds: its outcome will stand in the ledger. */
  | { kind: "pending"; call: CallId };

/** Sends a call and waits for its answer, 60 seconds at most; a call that the gate stops is answered as refused. */
export function restCall(
  admission: Admission,
  wanted: RestCall & { lease: Lease },
  now: number,
): Promise<RestAnswer> {
  return new Promise((resolve, reject) => {
    const recipient = new HeldRequest(wanted.call, now + TIMES.restHold, resolve);
    try {
      admission.message(wanted.lease, now);
      admission.admit(wanted, now, (call) => {
        recipient.call = call;
        return recipient;
      });
    } catch (error) {
      if (error instanceof MatrxError) recipient.refuse(error.shape(), wanted.call);
      else reject(error);
    }
  });
}

/** A REST request that waits for its answer. */
class HeldRequest implements Recipient {
  call: CallId;
  readonly waitsUntil: number;
  #follows = false;
  readonly #answer: (answer: RestAnswer) => void;

  constructor(call: CallId, waitsUntil: number, answer: (answer: RestAnswer) => void) {
    this.call = call;
    this.waitsUntil = waitsUntil;
    this.#answer = answer;
  }

  follow(): void {
    this.#follows = true;
  }

  result({ status, code }: ResultHeader, body: Uint8Array): void {
    const own = this.#follows ? withId(body, undefined) : body.slice();
    this.#answer({ kind: "answer", call: this.call, status, code, body: own });
  }

  output(): boolean {
    return true;
  }

  refuse(error: ErrorShape, call: CallId): void {
    this.#answer({ kind: "refused", call, error });
  }

  sendAway(call: CallId): void {
    this.#answer({ kind: "pending", call });
  }
}

/** Only the grant that made a call, or the owner, may know of it. Throws MatrxError `NOT_FOUND`. */
export function requireMaker(maker: string | undefined, { scope }: Lease): void {
  if (maker === undefined || (maker !== scope.id && !scope.owner)) throw noSuchCall();
}

export function noSuchCall(): MatrxError {
  return new MatrxError({
    code: "NOT_FOUND",
    message: "No such call, or it isn't yours",
    hint: "Calls that only read leave no record; others are kept for 24 hours",
    hop: "relay",
  });
}
