/** `error_occurred`: errors in the agent itself, reported once each and without secrets. */
import { previewOf } from "@matrx/shared/redact.ts";
import type { Emit, EventData } from "../events/report.ts";
import { Conditions, keyOf } from "./condition.ts";

/** The same message is not reported again within this time, in milliseconds; how often it came is told then. */
const QUIET_FOR = 10 * 60_000;
/** Messages remembered; the oldest are forgotten. */
const REMEMBERED = 200;

export interface Problem {
  readonly message: string;
  readonly hint?: string | undefined;
  readonly cause?: string | undefined;
}

export class Problems {
  readonly #emit: Emit;
  readonly #conditions: Conditions;
  readonly #said = new Map<string, { at: number; repeats: number }>();

  /** `left`: keys of problems that an earlier run reported. */
  constructor(emit: Emit, left: readonly string[] = []) {
    this.#emit = emit;
    this.#conditions = new Conditions("error_occurred", emit, left);
  }

  /** Something does not work, until `clear`. */
  raise(key: string, problem: Problem): void {
    this.#conditions.raise(keyOf(key), "warning", shown(problem));
  }

  clear(key: string, message: string): void {
    this.#conditions.clear(keyOf(key), { message: previewOf(message) });
  }

  /** Ends problems that an earlier run reported and this one does not know. */
  clearUnknown(known: readonly string[]): void {
    const keys = new Set(known.map(keyOf));
    for (const key of this.#conditions.open) {
      if (!keys.has(key)) this.#conditions.clear(key, { message: "This is no longer watched" });
    }
  }

  /** Something went wrong once. `now` in milliseconds of one clock. */
  happened(problem: Problem, now: number): void {
    const { message } = problem;
    const said = this.#said.get(message);
    if (said && now - said.at < QUIET_FOR) {
      said.repeats++;
      return;
    }
    this.#said.delete(message);
    this.#said.set(message, { at: now, repeats: 0 });
    const [oldest] = this.#said.keys();
    if (this.#said.size > REMEMBERED && oldest !== undefined) this.#said.delete(oldest);
    const repeats = said?.repeats ? { repeats: said.repeats } : {};
    this.#emit({ type: "error_occurred", severity: "warning", data: { ...shown(problem), ...repeats } });
  }
}

function shown({ message, hint, cause }: Problem): EventData {
  return {
    message: previewOf(message),
    ...(cause && { cause: previewOf(cause) }),
    ...(hint && { hint }),
  };
}
