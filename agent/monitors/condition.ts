/** Conditions of one event type: each is reported when it begins, when it gets worse, and when it is over. */
import { SEVERITIES, type Severity } from "@matrx/shared/events.ts";
import type { Emit, EventData } from "../events/report.ts";

export class Conditions {
  readonly #type: string;
  readonly #emit: Emit;
  readonly #raised = new Map<string, Severity>();
  /** Begun in an earlier run of the agent: reported again if it holds, else ended. */
  readonly #left: Set<string>;

  constructor(type: string, emit: Emit, left: readonly string[] = []) {
    this.#type = type;
    this.#emit = emit;
    this.#left = new Set(left);
  }

  /** Keys that are to be looked at: begun, and not over. */
  get open(): string[] {
    return [...new Set([...this.#raised.keys(), ...this.#left])];
  }

  /** It holds. Reported if that is new, or worse than it was. */
  raise(key: string, severity: Severity, data: EventData): void {
    const known = this.#raised.get(key);
    if (known && SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(known)) return;
    this.#raised.set(key, severity);
    this.#left.delete(key);
    this.#emit({ type: this.#type, key, severity, data });
  }

  /** It is over, if it ever began. */
  clear(key: string, data: EventData): void {
    const known = this.#raised.delete(key);
    if (!this.#left.delete(key) && !known) return;
    this.#emit({ type: this.#type, key, severity: "info", data, resolved: true });
  }
}
