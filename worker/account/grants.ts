/** The grants of one account. */
import { type Grant, type GrantKind, type GrantScope, grantScopeSchema } from "@matrx/shared/grant.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";

interface GrantRow extends Record<string, SqlStorageValue> {
  id: string;
  kind: string;
  name: string;
  created: number;
  expires: number;
  version: number;
  /** JSON of `May`. */
  may: string;
}

/** What a grant allows: its scope, and the devices that it is for. */
export type May = Omit<GrantScope, "id"> &
  Pick<Grant, "devices" | "tags" | "token_expires" | "key" | "token" | "guest" | "client">;

export class Grants {
  readonly #sql: SqlStorage;
  readonly #account: AccountId;

  constructor(sql: SqlStorage, account: AccountId) {
    this.#sql = sql;
    this.#account = account;
  }

  add(grant: Grant): void {
    const { id, kind, name, created, expires, version, account, ...may } = grant;
    this.#sql.exec(
      "INSERT INTO grants (id, kind, name, created, expires, version, may) VALUES (?, ?, ?, ?, ?, ?, ?)",
      ...[id, kind, name, created, expires, version, JSON.stringify(may)],
    );
  }

  /** Replaces a grant; its id, kind and age stay. */
  update(grant: Grant): void {
    const { id, kind: _, name, created: __, expires, version, account: ___, ...may } = grant;
    this.#sql.exec(
      "UPDATE grants SET name = ?, expires = ?, version = ?, may = ? WHERE id = ?",
      ...[name, expires, version, JSON.stringify(may), id],
    );
  }

  /** A grant that is neither revoked nor expired. */
  find(id: GrantId, now: number): Grant | undefined {
    const [row] = this.#sql.exec<GrantRow>("SELECT * FROM grants WHERE id = ? AND expires > ?", id, now);
    return row && this.#grantOf(row);
  }

  list(now: number): Grant[] {
    const rows = this.#sql.exec<GrantRow>(
      "SELECT * FROM grants WHERE expires > ? ORDER BY created DESC",
      now,
    );
    return rows.toArray().map((row) => this.#grantOf(row));
  }

  /** What the account shares, newest first. */
  shares(now: number): Grant[] {
    const rows = this.#sql.exec<GrantRow>(
      "SELECT * FROM grants WHERE kind = 'share' AND expires > ? ORDER BY created DESC",
      now,
    );
    return rows.toArray().map((row) => this.#grantOf(row));
  }

  /** What an account has accepted of it. */
  sharedWith(account: AccountId, now: number): Grant[] {
    return this.shares(now).filter(({ guest }) => guest?.account === account);
  }

  /** Returns false if there was none. */
  remove(id: GrantId): boolean {
    return this.#sql.exec("DELETE FROM grants WHERE id = ?", id).rowsWritten > 0;
  }

  /** When the first grant expires, in milliseconds since 1970. */
  nextExpiry(): number | undefined {
    const { next } = this.#sql.exec<{ next: number | null }>("SELECT MIN(expires) AS next FROM grants").one();
    return next ?? undefined;
  }

  /** Deletes the expired ones. Returns those that were not the owner's. */
  prune(now: number): GrantId[] {
    const rows = this.#sql.exec<GrantRow>("DELETE FROM grants WHERE expires <= ? RETURNING *", now).toArray();
    return rows.map((row) => this.#grantOf(row)).flatMap(({ id, owner }) => (owner ? [] : [id]));
  }

  #grantOf(row: GrantRow): Grant {
    const { id, kind, name, created, expires, version } = row;
    const may = JSON.parse(row.may) as May;
    return {
      ...may,
      id: id as GrantId,
      kind: kind as GrantKind,
      name,
      created,
      expires,
      version,
      account: this.#account,
    };
  }
}

/** The part of a grant that Device objects and agents see. */
export function scopeOf(grant: Grant): GrantScope {
  return grantScopeSchema.parse(grant);
}

/** Whether a grant is for a device that has these tags. */
export function isFor({ devices, tags }: Grant, device: string, tagged: readonly string[]): boolean {
  if (!devices && !tags) return true;
  return (devices?.includes(device) ?? false) || (tags?.some((tag) => tagged.includes(tag)) ?? false);
}
