/** Errors across object calls: RPC keeps no error class, so refusals travel as values. */
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";

export type Outcome<Value> = { ok: true; value: Value } | { ok: false; error: ErrorShape };

/** Runs an object's method; a MatrxError becomes a value, anything else stays a throw. */
export async function attempt<Value>(run: () => Value | Promise<Value>): Promise<Outcome<Value>> {
  try {
    return { ok: true, value: await run() };
  } catch (error) {
    if (error instanceof MatrxError) return { ok: false, error: error.shape() };
    throw error;
  }
}

/** The value of an object's answer. Throws its refusal as MatrxError. */
export function unwrap<Value>(outcome: Outcome<Value>): Value {
  if (outcome.ok) return outcome.value;
  throw new MatrxError(outcome.error);
}
