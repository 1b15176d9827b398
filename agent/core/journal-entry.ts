/** A journal entry of one call, its table row, and the ledgers that the journal knows. */
import type { DatabaseSync } from "node:sqlite";
import { type GrantId, randomBase32 } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { type ResultHeader, resultHeaderSchema } from "@matrx/shared/result-frame.ts";
import * as z from "zod";

/**
 * Prefix of the ids of grants for this machine's own programs; a relay's ids never begin with it. No relay knows their
 * calls or waits for their outcomes.
 */
const LOCAL_PREFIX = "grant_local";
/** The local server's grant: whoever has this machine's token is its owner. */
export const LOCAL_GRANT = LOCAL_PREFIX as GrantId;

export function isLocalGrant(grant: string | undefined): boolean {
  return grant?.startsWith(LOCAL_PREFIX) ?? false;
}

/** The same test in SQL, for a row. */
export const IS_LOCAL = `ifnull(grant_id GLOB '${LOCAL_PREFIX}*', 0)`;

/** The relay's ledger, as a registration names it. */
export interface KnownLedger {
  readonly ledger_id: string;
  /** Newest first. */
  readonly last_calls: string[];
}

/** A device's ledger at its relay; calls after this row were recorded in it. */
const ledgerSchema = z.object({ device: z.string(), ledger: z.string(), after: z.number() });

export class JournalFacts {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Created together with the file. */
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
      // No ledger knows the reads of `Journal.keep`, which have no grant, or calls of this machine's own programs.
      .prepare(
        `SELECT call FROM calls WHERE rowid > ? AND grant_id IS NOT NULL AND NOT ${IS_LOCAL}
         ORDER BY rowid DESC LIMIT ?`,
      )
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

/** `unknown`: begun by an agent that died before the call ended. */
export type CallState = "never" | "started" | "finished" | "unknown";

/** What is known about a call when it begins, besides its name and tool. */
export interface Beginning {
  /** Hash of tool and input. */
  readonly input?: string | undefined;
  /** The caller's own name for the call. */
  readonly id?: string | undefined;
  readonly grant?: string | undefined;
  /** Idempotency key, within the grant. */
  readonly key?: string | undefined;
  /** When it will be stopped, in milliseconds since 1970. */
  readonly deadline?: number | undefined;
}

export interface JournalEntry {
  readonly call: string;
  readonly state: Exclude<CallState, "never">;
  readonly tool: string;
  /** Milliseconds since 1970. */
  readonly started: number;
  readonly id: string | undefined;
  readonly grant: string | undefined;
  readonly key: string | undefined;
  readonly deadline: number | undefined;
  /** Hash of the input, if it was given. */
  readonly input: string | null;
  readonly header: ResultHeader | undefined;
  /** Undefined if the call has not ended, or the body is no longer kept. */
  readonly body: Uint8Array | undefined;
  /** Whether the relay has stored the outcome, or no relay waits for it. */
  readonly acknowledged: boolean;
}

/** A row of the table. */
export interface Row {
  call: string;
  state: JournalEntry["state"];
  tool: string;
  started: number;
  caller_id: string | null;
  grant_id: string | null;
  key: string | null;
  deadline: number | null;
  input: string | null;
  header: string | null;
  body: Uint8Array | null;
  acknowledged: number;
}

export const COLUMNS =
  "call, state, tool, started, caller_id, grant_id, key, deadline, input, header, body, acknowledged";

export function entryOf(row: Row): JournalEntry {
  const { call, state, tool, started, caller_id, grant_id, key, deadline, input, header, body } = row;
  return {
    ...{ call, state, tool, started, input, acknowledged: row.acknowledged === 1 },
    id: caller_id ?? undefined,
    grant: grant_id ?? undefined,
    key: key ?? undefined,
    deadline: deadline ?? undefined,
    header: header === null ? undefined : resultHeaderSchema.parse(JSON.parse(header)),
    body: body ?? undefined,
  };
}
