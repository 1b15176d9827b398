/** Looks at everything, one check after the other; one that fails does not end the others. */
import { shapeOf } from "@matrx/shared/errors.ts";
import type { Check, Result } from "./finding.ts";

export async function examine(checks: readonly Check[]): Promise<Result[]> {
  const results: Result[] = [];
  for (const check of checks) results.push(await look(check));
  return results;
}

async function look({ name, look: find }: Check): Promise<Result> {
  const began = performance.now();
  const ms = () => Math.round(performance.now() - began);
  try {
    return { name, ...(await find()), ms: ms() };
  } catch (cause) {
    const error = shapeOf(cause, "agent", crypto.randomUUID().slice(0, 8));
    return { name, state: "failed", fact: error.message, hint: error.hint, ms: ms(), error };
  }
}
