/** The journal's table of facts: its own name, and the relay's ledger that its calls came by. */
import type { DatabaseSync } from "node:sqlite";
import { randomBase32 } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import * as z from "zod";

/** As a registration tells it. */
export interface KnownLedger {
  readonly ledger_id: string;
  /** The newest first. */
  readonly last_calls: string[];
}

/** The ledger of a device at its relay; calls after this row came by it. */
const ledgerSchema = z.object({ device: z.string(), ledger: z.string(), after: z.number() });

export class JournalFacts {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Made with the file. */
  journalId(): string {
    const id = `journal_${randomBase32(16)}`;
    this.#db.prepare("INSERT OR IGNORE INTO facts (name, value) VALUES ('journal_id', ?)").run(id);
    return String(this.#valueOf("journal_id"));
  }

  ledgerOf(device: string): KnownLedger | undefined {
    const fact = this.#valueOf("ledger");
    const parsed = ledgerSchema.safeParse(fact && JSON.parse(fact));
    const { device: known, ledger, after } = parsed.data ?? {};
    if (known !== device || ledger === undefined) return undefined;
    const rows = this.#db
      // What `Journal.keep` took has no grant: no ledger knows it.
      .prepare("SELECT call FROM calls WHERE rowid > ? AND grant_id IS NOT NULL ORDER BY rowid DESC LIMIT ?")
      .all(Number(after), LIMITS.lastCalls);
    return { ledger_id: ledger, last_calls: rows.map(({ call }) => String(call)) };
  }

  setLedger(device: string, ledger: string): void {
    const after = Number(this.#db.prepare("SELECT ifnull(max(rowid), 0) AS last FROM calls").get()?.last);
    const fact = JSON.stringify({ device, ledger, after } satisfies z.infer<typeof ledgerSchema>);
    this.#db.prepare("INSERT OR REPLACE INTO facts (name, value) VALUES ('ledger', ?)").run(fact);
  }

  #valueOf(name: string): string | undefined {
    const row = this.#db.prepare("SELECT value FROM facts WHERE name = ?").get(name);
    return row && String(row.value);
  }
}
