/** Which entries the record has, by their ids: what is told twice is written once. */
import type { AuditDraft } from "@matrx/shared/audit.ts";
import type { Sql } from "../storage/watched.ts";
import { entryOf } from "./lines.ts";

/** What was just written is kept in memory: so many ids at least, those of so many milliseconds at least. */
const KEPT = { ids: 5000, for: 10_000 } as const;
/** The clocks of two objects may differ by so many milliseconds. */
const SKEW = 2000;

export class KnownIds {
  readonly #sql: Sql;
  #newer = new Set<string>();
  #newerSince: number;
  #older: ReadonlySet<string> = new Set();
  /** The ids of all entries written since then are in memory. */
  #since: number;

  constructor(sql: Sql, now: number) {
    this.#sql = sql;
    this.#since = this.#newerSince = now;
  }

  /** Those that the record does not have, each once. */
  without(drafts: readonly AuditDraft[], now: number): AuditDraft[] {
    // An entry is written after it happened.
    const oldest = drafts.reduce((least, { at }) => Math.min(least, Date.parse(at)), now) - SKEW;
    const stored = oldest < this.#since ? this.#stored(oldest) : undefined;
    const seen = new Set<string>();
    return drafts.filter(({ id }) => {
      const isKnown = seen.has(id) || this.#newer.has(id) || this.#older.has(id) || stored?.has(id);
      seen.add(id);
      return !isKnown;
    });
  }

  /** Notes what was written. */
  added(drafts: readonly AuditDraft[], now: number): void {
    for (const { id } of drafts) this.#newer.add(id);
    if (this.#newer.size < KEPT.ids || now - this.#newerSince < KEPT.for) return;
    this.#older = this.#newer;
    this.#since = this.#newerSince;
    this.#newer = new Set();
    this.#newerSince = now;
  }

  /** The ids of what was written since then. */
  #stored(since: number): Set<string> {
    const ids = new Set<string>();
    const rows = this.#sql.exec<{ at: number; lines: string }>(
      "SELECT at, lines FROM entries ORDER BY first DESC",
    );
    for (const { at, lines } of rows) {
      if (at < since) break;
      for (const line of lines.split("\n")) ids.add(String(entryOf(line).id));
    }
    return ids;
  }
}
