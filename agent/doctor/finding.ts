/** What `matrx doctor` finds. */
import type { ErrorShape } from "@matrx/shared/errors.ts";

export interface Finding {
  /** `missing`: an optional part that is not there. `untried`: something before it failed. */
  readonly state: "ok" | "missing" | "failed" | "untried";
  readonly fact: string;
  readonly hint?: string | undefined;
}

export interface Check {
  readonly name: string;
  /** Throws when it failed. */
  look(): Promise<Finding> | Finding;
}

export interface Result extends Finding {
  readonly name: string;
  readonly ms: number;
  /** Of a check that failed with one. */
  readonly error?: ErrorShape;
}

export function ok(fact: string): Finding {
  return { state: "ok", fact };
}

export function missing(fact: string, hint: string): Finding {
  return { state: "missing", fact, hint };
}
