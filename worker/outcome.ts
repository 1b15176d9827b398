/** Errors across object calls: RPC does not preserve error classes, so refusals travel as values. */
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";

export type Outcome<Value> = { ok: true; value: Value } | { ok: false; error: ErrorShape };

/**
 * Runs an object's method; a MatrxError becomes a value, anything else is still thrown. Not an async function, which would
 * keep `run`, and a call's whole input with it, until the answer.
 */
export function attempt<Value>(run: () => Value | Promise<Value>): Promise<Outcome<Value>> {
  return new Promise<Value>((resolve) => resolve(run())).then(succeeded, failed);
}

function succeeded<Value>(value: Value): Outcome<Value> {
  return { ok: true, value };
}

function failed(error: unknown): Outcome<never> {
  if (error instanceof MatrxError) return { ok: false, error: error.shape() };
  throw error;
}

/** Returns the value of an object's answer, or throws its refusal as MatrxError. */
export function unwrap<Value>(outcome: Outcome<Value>): Value {
  if (outcome.ok) return outcome.value;
  throw new MatrxError(outcome.error);
}
