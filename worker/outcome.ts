/** Errors across object calls: RPC does not preserve error classes, so refusals travel as values. */
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";

export type Outcome<Value> = { ok: true; value: Value } | { ok: false; error: ErrorShape };

/** Runs an object's method; a MatrxError becomes a value, anything else is still thrown. */
export async function attempt<Value>(run: () => Value | Promise<Value>): Promise<Outcome<Value>> {
  try {
    return { ok: true, value: await run() };
  } catch (error) {
    if (error instanceof MatrxError) return { ok: false, error: error.shape() };
    throw error;
  }
}

/** Returns the value of an object's answer, or throws its refusal as MatrxError. */
export function unwrap<Value>(outcome: Outcome<Value>): Value {
  if (outcome.ok) return outcome.value;
  throw new MatrxError(outcome.error);
}
