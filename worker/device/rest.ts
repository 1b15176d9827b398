/** REST at the device: a call that is waited for, or answered later under its URL. */
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import type { CallId, SessionId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import type { Admission } from "./admission.ts";
import type { Calls } from "./calls.ts";
import type { Lease } from "./leases.ts";

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
  { admission, calls }: { admission: Admission; calls: Calls },
  wanted: RestCall & { lease: Lease },
  now: number,
): Promise<RestAnswer> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const settle = (answer: RestAnswer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    try {
      admission.message(wanted.lease, now);
      admission.admit(wanted, now, (call) => {
        timer = setTimeout(() => settle(calls.sendAway(call)), TIMES.restHold);
        return {
          result: ({ status, code }, body) =>
            settle({ kind: "answer", call, status, code, body: body.slice() }),
          output: () => true,
          refuse: (error) => settle({ kind: "refused", call, error }),
        };
      });
    } catch (error) {
      clearTimeout(timer);
      if (error instanceof MatrxError) resolve({ kind: "refused", call: wanted.call, error: error.shape() });
      else reject(error);
    }
  });
}

/** Only the grant that made a call, or the owner, reads it. Throws MatrxError `NOT_FOUND`. */
export function noSuchCall(): MatrxError {
  return new MatrxError({
    code: "NOT_FOUND",
    message: "There is no such call, or it is not yours",
    hint: "Calls that only read leave no record; others are kept for 24 hours",
    hop: "relay",
  });
}
