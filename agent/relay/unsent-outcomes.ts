/** Outcomes that cannot be sent yet: in memory up to a limit, the rest in the journal. */
import { TIMES } from "@matrx/shared/limits.ts";
import type { Logger } from "pino";
import type { Outcome } from "../core/answers.ts";
import type { Journal } from "../core/journal.ts";

/** Limit on all outcomes in memory, in bytes. */
const MEMORY_BYTES = 32 * 1024 * 1024;

interface Unsent {
  /** The caller's own name for the call. */
  readonly id: string | undefined;
  /** Undefined if the journal has it, or it is lost. */
  outcome: Outcome | undefined;
  /** `journal`: stored there anyway; `spilled`: stored there only because memory was full. */
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

  /** The caller's id of a call that is kept only here, so that dropping it ends the call. */
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

  /** Removes and returns an outcome. Undefined if there is none, or it is no longer kept. */
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

  /** The connection is gone: from now on, each is kept as long as the relay waits for the device. */
  restart(): void {
    const now = performance.now();
    for (const unsent of this.#unsent.values()) unsent.since = now;
  }

  /** Drops outcomes that have waited longer than the relay waits for the device, and returns their calls. */
  expire(): string[] {
    const oldest = performance.now() - TIMES.reconnectGrace;
    const expired = [...this.#unsent].filter(([, { since }]) => since < oldest).map(([call]) => call);
    for (const call of expired) this.drop(call);
    return expired;
  }

  /** Spills the oldest first. What the disk does not accept is lost, and its caller is told so. */
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
