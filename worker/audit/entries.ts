/**
 * The record's table: entries are added at its end and never changed; the oldest go in one piece, which the record says.
 * Entries that come together share a row: rows cost more than what is in them (docs/decisions/0028-record.md).
 */
import type { AuditDraft, AuditHead } from "@matrx/shared/audit.ts";
import { GENESIS, hashedText, RETENTION } from "@matrx/shared/audit-chain.ts";
import { canonicalJson } from "@matrx/shared/canonical-json.ts";
import { hexOf } from "@matrx/shared/ids.ts";
import { Mutex } from "@matrx/shared/mutex.ts";
import type { Sql } from "../storage/watched.ts";
import { KnownIds } from "./known-ids.ts";

/** Entries `first` to `last`. */
interface Row extends Record<string, SqlStorageValue> {
  first: number;
  last: number;
  /** When it was written. */
  at: number;
  /** Of the last entry. */
  hash: string;
}

interface FullRow extends Row {
  /** Each entry as JSON, with its hash, on a line of its own. */
  lines: string;
}

/** What is kept: so many entries, none older than so many milliseconds. */
export interface Retention {
  readonly entries: number;
  readonly age: number;
}

/** A row may have 2 MB at most, on Cloudflare; a single entry is far shorter. */
const ROW_CHARS = 512 * 1024;

const encoder = new TextEncoder();

export class Entries {
  readonly #sql: Sql;
  readonly #account: string;
  readonly #retention: Retention;
  readonly #known: KnownIds;
  /** Hashing waits, and each entry's hash depends on the one before. */
  readonly #mutex = new Mutex();
  #last: Row | undefined;

  constructor(sql: Sql, account: string, retention: Retention = RETENTION) {
    this.#sql = sql;
    this.#account = account;
    this.#retention = retention;
    this.#known = new KnownIds(sql, Date.now());
  }

  get head(): AuditHead {
    const row = this.#lastRow();
    if (!row) return { account: this.#account, seq: 0, hash: GENESIS, at: null };
    return { account: this.#account, seq: row.last, hash: row.hash, at: new Date(row.at).toISOString() };
  }

  /** Adds entries in this order, but for those that are there already. Returns the record's end. */
  append(drafts: readonly AuditDraft[], now: number): Promise<AuditHead> {
    return this.#mutex.runExclusive(async () => {
      await this.#add(this.#known.without(drafts, now), now);
      return this.head;
    });
  }

  /** Deletes what is too old or too much. Returns when the oldest entry will be too old, in milliseconds since 1970. */
  prune(now: number): Promise<number | undefined> {
    return this.#mutex.runExclusive(() => this.#prune(now));
  }

  async #prune(now: number): Promise<number | undefined> {
    const { entries, age } = this.#retention;
    const end = this.#lastRow();
    if (!end) return undefined;
    const [until] = this.#rows(
      "WHERE at <= ? OR first <= ? ORDER BY first DESC LIMIT 1",
      now - age,
      end.last - entries,
    );
    if (until) {
      const what = { until: until.last, until_hash: until.hash };
      const at = new Date(now).toISOString();
      await this.#add([{ id: `pruned:${until.last}`, type: "pruned", at, ...what }], now);
      this.#sql.exec("DELETE FROM entries WHERE first <= ?", until.first);
    }
    const [oldest] = this.#rows("ORDER BY first LIMIT 1");
    return oldest && oldest.at + age;
  }

  /** Rows are written in one turn, after all hashes are known: so all of them are, or none. */
  async #add(drafts: readonly AuditDraft[], now: number): Promise<void> {
    const rows: FullRow[] = [];
    let { last: seq, hash } = this.#lastRow() ?? { last: 0, hash: GENESIS };
    for (const draft of drafts) {
      const entry = canonicalJson({ ...draft, seq: ++seq, prev: hash });
      hash = await sha256(hashedText(hash, entry));
      const line = `{"hash":"${hash}",${entry.slice(1)}`;
      const row = rows.at(-1);
      if (row && row.lines.length + line.length <= ROW_CHARS)
        Object.assign(row, { last: seq, hash, lines: `${row.lines}\n${line}` });
      else rows.push({ first: seq, last: seq, at: now, hash, lines: line });
    }
    for (const { lines, ...row } of rows) {
      this.#sql.exec(
        "INSERT INTO entries (first, last, at, hash, lines) VALUES (?, ?, ?, ?, ?)",
        ...[row.first, row.last, row.at, row.hash, lines],
      );
      this.#last = row;
    }
    this.#known.added(drafts, now);
  }

  #lastRow(): Row | undefined {
    this.#last ??= this.#rows("ORDER BY first DESC LIMIT 1")[0];
    return this.#last;
  }

  #rows(rest: string, ...values: SqlStorageValue[]): Row[] {
    return this.#sql.exec<Row>(`SELECT first, last, at, hash FROM entries ${rest}`, ...values).toArray();
  }
}

/** The platform's own takes a quarter of the time that one in JavaScript does. */
async function sha256(text: string): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(text))));
}
