/** The record's table: entries are added at its end and never changed; the oldest go in one piece, which the record says. */
import type { AuditDraft, AuditFilter, AuditHead, AuditQuery } from "@matrx/shared/audit.ts";
import { GENESIS, hashedText } from "@matrx/shared/audit-chain.ts";
import { canonicalJson } from "@matrx/shared/canonical-json.ts";
import { hexOf } from "@matrx/shared/ids.ts";
import { Mutex } from "@matrx/shared/mutex.ts";
import type { Sql } from "../storage/watched.ts";

interface Row extends Record<string, SqlStorageValue> {
  seq: number;
  at: number;
  hash: string;
  entry: string;
  id: string;
}

/** What is kept: so many entries, none older than so many milliseconds. */
export interface Retention {
  readonly entries: number;
  readonly age: number;
}

const day = 24 * 60 * 60_000;
export const RETENTION: Retention = { entries: 1_000_000, age: 400 * day };

/** A page looks at so many rows, also if few of them fit a filter. */
const ROWS_PER_PAGE = 5000;

/** Entries as JSON, so that they are passed on without being parsed. */
export interface Page {
  entries: string[];
  next: number | null;
}

const encoder = new TextEncoder();

export class Entries {
  readonly #sql: Sql;
  readonly #account: string;
  readonly #retention: Retention;
  /** Hashing waits, and each entry's hash depends on the one before. */
  readonly #mutex = new Mutex();
  #last: Row | undefined;

  constructor(sql: Sql, account: string, retention: Retention = RETENTION) {
    this.#sql = sql;
    this.#account = account;
    this.#retention = retention;
  }

  get head(): AuditHead {
    const last = this.#lastRow();
    if (!last) return { account: this.#account, seq: 0, hash: GENESIS, at: null };
    return { account: this.#account, seq: last.seq, hash: last.hash, at: new Date(last.at).toISOString() };
  }

  /** Adds entries in this order, but for those that are there already. Returns the record's end. */
  append(drafts: readonly AuditDraft[], now: number): Promise<AuditHead> {
    return this.#mutex.runExclusive(async () => {
      const known = this.#known(drafts);
      const news = new Map(drafts.filter(({ id }) => !known.has(id)).map((draft) => [draft.id, draft]));
      await this.#add([...news.values()], now);
      return this.head;
    });
  }

  /** Deletes what is too old or too much. Returns when the oldest entry will be too old, in milliseconds since 1970. */
  prune(now: number): Promise<number | undefined> {
    return this.#mutex.runExclusive(() => this.#prune(now));
  }

  async #prune(now: number): Promise<number | undefined> {
    const { entries, age } = this.#retention;
    const [oldest] = this.#rows("ORDER BY seq LIMIT 1");
    const last = this.#lastRow();
    if (!oldest || !last) return undefined;
    const [young] = this.#rows("WHERE at > ? ORDER BY seq LIMIT 1", now - age);
    const from = Math.max(young?.seq ?? last.seq + 1, last.seq - entries + 1);
    if (from <= oldest.seq) return oldest.at + age;
    const [until] = this.#rows("WHERE seq = ?", from - 1);
    if (until) {
      const at = new Date(now).toISOString();
      const what = { until: until.seq, until_hash: until.hash };
      await this.#add([{ id: `pruned:${until.seq}`, type: "pruned", at, ...what }], now);
      this.#sql.exec("DELETE FROM entries WHERE seq <= ?", until.seq);
    }
    return (young?.at ?? now) + age;
  }

  page({ after, before, limit, ...filter }: AuditQuery): Page {
    const isOldestFirst = after !== undefined;
    const from = after ?? before ?? Number.MAX_SAFE_INTEGER;
    const range = isOldestFirst
      ? "WHERE seq > ? ORDER BY seq LIMIT ?"
      : "WHERE seq < ? ORDER BY seq DESC LIMIT ?";
    const { where, values } = conditions(filter);
    const looked = values.length > 0 ? ROWS_PER_PAGE : limit;
    const rows = this.#sql
      .exec<Row>(
        `SELECT * FROM (SELECT * FROM entries ${range}) ${where} LIMIT ?`,
        ...[from, looked, ...values, limit],
      )
      .toArray();
    const last = rows.at(-1)?.seq;
    const reached = rows.length === limit ? last : this.#reached(range, from, looked);
    return { entries: rows.map(jsonOf), next: reached ?? null };
  }

  /** The last row that a page looked at; undefined if there are no more. */
  #reached(range: string, from: number, looked: number): number | undefined {
    const seqs = this.#sql.exec<{ seq: number }>(`SELECT seq FROM entries ${range}`, from, looked).toArray();
    return seqs.length === looked ? seqs.at(-1)?.seq : undefined;
  }

  /** The ids of those that are there already. */
  #known(drafts: readonly AuditDraft[]): Set<string> {
    const rows = this.#sql.exec<{ id: string }>(
      "SELECT id FROM entries WHERE id IN (SELECT value FROM json_each(?))",
      JSON.stringify(drafts.map(({ id }) => id)),
    );
    return new Set(Array.from(rows, ({ id }) => id));
  }

  /** Rows are written in one turn, after all hashes are known: each turn that writes is a transaction of its own. */
  async #add(drafts: readonly AuditDraft[], now: number): Promise<void> {
    const rows: Row[] = [];
    let { seq, hash: prev } = this.#lastRow() ?? { seq: 0, hash: GENESIS };
    for (const draft of drafts) {
      const entry = canonicalJson({ ...draft, seq: ++seq, prev });
      prev = await sha256(hashedText(prev, entry));
      rows.push({ seq, at: now, hash: prev, entry, id: draft.id });
    }
    for (const row of rows) {
      const { seq, at, hash, entry, id } = row;
      this.#sql.exec(
        "INSERT INTO entries (seq, at, hash, entry, id) VALUES (?, ?, ?, ?, ?)",
        seq,
        at,
        hash,
        entry,
        id,
      );
      this.#last = row;
    }
  }

  #lastRow(): Row | undefined {
    this.#last ??= this.#rows("ORDER BY seq DESC LIMIT 1")[0];
    return this.#last;
  }

  #rows(rest: string, ...values: SqlStorageValue[]): Row[] {
    return this.#sql.exec<Row>(`SELECT * FROM entries ${rest}`, ...values).toArray();
  }
}

/** The platform's own takes a quarter of the time that one in JavaScript does. */
async function sha256(text: string): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(text))));
}

/** The entry with its hash. */
function jsonOf({ hash, entry }: Row): string {
  return `{"hash":"${hash}",${entry.slice(1)}`;
}

/** A grant's entries are those that it caused and those about it. */
function conditions({ device, grant, type }: AuditFilter): { where: string; values: string[] } {
  const wanted: readonly [string, string | undefined][] = [
    ["entry ->> '$.device' = ?", device],
    ["? IN (entry ->> '$.by.grant', entry ->> '$.grant')", grant],
    ["entry ->> '$.type' = ?", type],
  ];
  const given = wanted.filter((one): one is [string, string] => one[1] !== undefined);
  const where = given.map(([condition]) => condition).join(" AND ");
  return { where: where && `WHERE ${where}`, values: given.map(([, value]) => value) };
}
