/** Outcomes that cannot be sent yet: in memory up to a bound, what is beyond it in the journal. */
import { TIMES } from "@matrx/shared/limits.ts";
import type { Logger } from "pino";
import type { Outcome } from "../core/answers.ts";
import type { Journal } from "../core/journal.ts";

/** All in memory together, in bytes. */
const MEMORY_BYTES = 32 * 1024 * 1024;

interface Unsent {
  /** The caller's own name for the call. */
  readonly id: string | undefined;
  /** Undefined: the journal has it, or it is lost. */
  outcome: Outcome | undefined;
  /** Where the journal has it: for the call's sake, or only because memory was full. */
  place: "memory" | "journal" | "spilled";
  since: number;
}

export class UnsentOutcomes {
  readonly #journal: Journal;
  readonly #log: Logger;
  readonly #unsent = new Map<string, Unsent>();
  #memoryBytes = 0;

  constructor(journal: Journal, log: Logger) {
    this.#journal = journal;
    this.#log = log;
  }

  has(call: string): boolean {
    return this.#unsent.has(call);
  }

  /** The caller's own name for a call that is kept here alone, and so ends with being dropped. */
  idOfRead(call: string): { id: string | undefined } | undefined {
    const unsent = this.#unsent.get(call);
    return unsent && unsent.place !== "journal" ? { id: unsent.id } : undefined;
  }

  put(outcome: Outcome, id: string | undefined): void {
    const { call } = outcome.header;
    this.drop(call);
    const since = performance.now();
    if (this.#journal.holds(call)) {
      this.#unsent.set(call, { id, outcome: undefined, place: "journal", since });
      return;
    }
    this.#unsent.set(call, { id, outcome, place: "memory", since });
    this.#memoryBytes += outcome.body.length;
    this.#spill();
  }

  /** Takes one out. Undefined: there is none, or it is not kept any more. */
  take(call: string): Outcome | undefined {
    const unsent = this.#unsent.get(call);
    if (!unsent) return undefined;
    const { header, body } = unsent.outcome ?? this.#journal.find(call) ?? {};
    this.drop(call);
    return header && body && { header, body };
  }

  drop(call: string): void {
    const unsent = this.#unsent.get(call);
    if (!unsent) return;
    this.#unsent.delete(call);
    this.#memoryBytes -= unsent.outcome?.body.length ?? 0;
    if (unsent.place === "spilled") this.#journal.drop(call);
  }

  /** The connection is gone: from now on each waits for as long as the relay waits for the device. */
  restart(): void {
    const now = performance.now();
    for (const unsent of this.#unsent.values()) unsent.since = now;
  }

  /** Drops what waited for longer than the relay waits for the device, and tells which calls those were. */
  expire(): string[] {
    const oldest = performance.now() - TIMES.reconnectGrace;
    const expired = [...this.#unsent].filter(([, { since }]) => since < oldest).map(([call]) => call);
    for (const call of expired) this.drop(call);
    return expired;
  }

  /** The oldest first. What the disk does not take is lost, which its caller is told. */
  #spill(): void {
    for (const [call, unsent] of this.#unsent) {
      if (this.#memoryBytes <= MEMORY_BYTES) return;
      if (!unsent.outcome) continue;
      this.#memoryBytes -= unsent.outcome.body.length;
      try {
        unsent.place = this.#journal.keep(unsent.outcome) ? "spilled" : "journal";
      } catch (err) {
        this.#log.error({ err, call }, "a waiting outcome could not be written to the journal");
      }
      unsent.outcome = undefined;
    }
  }
}
