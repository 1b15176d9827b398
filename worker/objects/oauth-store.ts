/**
 * What the OAuth library keeps: clients that registered (one object for all), and of each account the grants and tokens of
 * its AI clients (one object each). Secrets come here only as hashes. See docs/decisions/0029-oauth-store.md.
 */
import { DurableObject } from "cloudflare:workers";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import { logWarning } from "../log.ts";
import { AlarmTable } from "../storage/alarms.ts";
import { migrate } from "../storage/migrate.ts";
import { OAUTH_STORE } from "../storage/migrations.ts";
import { type ReplacedToken, ReplacedTokens, SAME_ANSWER_MS } from "./replaced-tokens.ts";

export interface StoredEntry {
  value: string;
  /** Of the write; a later write has another one. */
  version: number;
  /** Milliseconds since 1970; null: never. */
  expires: number | null;
}

export interface NewEntry {
  key: string;
  value: string;
  /** JSON, listed with the key. */
  metadata?: string | undefined;
  /** Milliseconds since 1970. */
  expires?: number | undefined;
  /** An entry that is there already keeps its own time. */
  keepsExpiry?: boolean | undefined;
  /** Writes only over this version. */
  over?: number | undefined;
}

export interface ListedKeys {
  keys: { name: string; metadata: string | null }[];
  isComplete: boolean;
}

/** The part of the Account objects that it needs. */
interface StoreEnv {
  ACCOUNT: { getByName(account: string): { disconnectClient(grant: GrantId): Promise<void> } };
}

/** The objects' names. */
const CLIENTS = "clients";
const OF_ACCOUNT = "account:";
/** What the library's keys begin with, and our own of requests that a person answered. */
export const PREFIX = { client: "client:", grant: "grant:", token: "token:", answered: "answered:" } as const;

/** A client that nobody let in yet is forgotten after this long, in milliseconds. */
const UNUSED_KEPT = 24 * 60 * 60_000;
const UNUSED_MAX = 2000;
/** Access tokens of one grant that are valid at once. */
const TOKENS_MAX = 32;
const TELL_AGAIN = 60_000;

export class OAuthStore extends DurableObject<StoreEnv> {
  readonly #alarms: AlarmTable<"expiry" | "ended" | "answers">;
  readonly #replaced: ReplacedTokens;

  constructor(state: DurableObjectState, env: StoreEnv) {
    super(state, env);
    migrate(state.storage, OAUTH_STORE);
    this.#replaced = new ReplacedTokens(state.storage.sql);
    this.#alarms = new AlarmTable(state.storage, {
      answers: (now) => this.#replaced.dropAnswers(now),
      expiry: (now) => this.#prune(now),
      ended: () => this.#tellEnded(),
    });
  }

  get(key: string): StoredEntry | undefined {
    const [row] = this.ctx.storage.sql.exec<{ value: string; version: number; expires: number | null }>(
      "SELECT value, version, expires FROM entries WHERE key = ? AND (expires IS NULL OR expires > ?)",
      ...[key, Date.now()],
    );
    return row;
  }

  /** Returns false, and writes nothing, if somebody else wrote meanwhile. */
  put({ key, value, metadata, expires, keepsExpiry, over }: NewEntry): boolean {
    const now = Date.now();
    const before = this.get(key);
    if (over !== undefined && over !== before?.version) return false;
    const isNewClient = !before && key.startsWith(PREFIX.client);
    const wanted = keepsExpiry && before ? (before.expires ?? undefined) : expires;
    const until = isNewClient ? Math.min(wanted ?? Number.POSITIVE_INFINITY, now + UNUSED_KEPT) : wanted;
    this.ctx.storage.sql.exec(
      "INSERT OR REPLACE INTO entries (key, value, metadata, expires, version) VALUES (?, ?, ?, ?, ?)",
      ...[key, value, metadata ?? null, until ?? null, (before?.version ?? 0) + 1],
    );
    if (until !== undefined) this.#alarms.by("expiry", until);
    if (isNewClient) this.#dropUnused(now);
    if (key.startsWith(PREFIX.token)) this.#dropTokens(key);
    return true;
  }

  /** A refresh token that was replaced, by its hash. */
  replaced(token: string): ReplacedToken | undefined {
    return this.#replaced.find(token, Date.now());
  }

  /** Writes what replaces a refresh token, the grant first. Returns false, and writes nothing, if somebody else wrote meanwhile. */
  replace(
    [grant, ...rest]: readonly NewEntry[],
    { token, grantKey, answer }: { token: string; grantKey: string; answer: string },
  ): boolean {
    if (!grant || !this.put(grant)) return false;
    for (const entry of rest) this.put(entry);
    const now = Date.now();
    this.#replaced.add(token, grantKey, answer, now);
    this.#alarms.by("answers", now + SAME_ANSWER_MS);
    return true;
  }

  /** Puts what is not there yet. Returns what is there already; undefined: it was put. */
  putFirst(key: string, value: string, expires: number): string | undefined {
    const before = this.get(key);
    if (!before) this.put({ key, value, expires });
    return before?.value;
  }

  /** Deletes an entry. With a grant's go all its tokens, and its account is told that the grant is over. */
  async delete(key: string): Promise<void> {
    const entry = this.get(key);
    if (!entry) return;
    if (!key.startsWith(PREFIX.grant)) {
      this.ctx.storage.sql.exec("DELETE FROM entries WHERE key = ?", key);
      return;
    }
    this.#dropGrant(key);
    this.#end([entry.value], Date.now());
    await this.#tellEnded().catch((error: unknown) => logWarning("an account was not told yet", error));
  }

  /** The account ended these grants: nothing of them is left. */
  forget(grants: readonly string[]): void {
    const { sql } = this.ctx.storage;
    const rows = sql
      .exec<{ key: string; value: string }>(
        "SELECT key, value FROM entries WHERE key LIKE ?",
        `${PREFIX.grant}%`,
      )
      .toArray();
    for (const { key, value } of rows) {
      if (grants.includes(accountGrantOf(value) ?? "")) this.#dropGrant(key);
    }
  }

  /** Keys with a prefix, after a key. */
  list(prefix: string, after: string, limit: number): ListedKeys {
    const rows = this.ctx.storage.sql
      .exec<{ key: string; metadata: string | null }>(
        "SELECT key, metadata FROM entries WHERE key > ? AND key < ? AND (expires IS NULL OR expires > ?) ORDER BY key LIMIT ?",
        ...[after || prefix, `${prefix}\u{10ffff}`, Date.now(), limit + 1],
      )
      .toArray();
    const keys = rows.slice(0, limit).map(({ key: name, metadata }) => ({ name, metadata }));
    return { keys, isComplete: rows.length <= limit };
  }

  override alarm(): Promise<void> {
    return this.#alarms.ring(Date.now());
  }

  /** Deletes a grant with its tokens. */
  #dropGrant(key: string): void {
    const tokens = `${PREFIX.token}${key.slice(PREFIX.grant.length)}:`;
    this.ctx.storage.sql.exec(
      "DELETE FROM entries WHERE key = ? OR (key > ? AND key < ?)",
      ...[key, tokens, `${tokens}\u{10ffff}`],
    );
    this.#replaced.forget(key);
  }

  /** Strangers register as many clients as they like: the one that waited longest goes. */
  #dropUnused(now: number): void {
    this.ctx.storage.sql.exec(
      "DELETE FROM entries WHERE key IN (SELECT key FROM entries WHERE expires <= ? ORDER BY expires DESC LIMIT -1 OFFSET ?)",
      ...[now + UNUSED_KEPT, UNUSED_MAX],
    );
  }

  /** A client that asks for one token after the other loses its oldest. */
  #dropTokens(key: string): void {
    const prefix = key.slice(0, key.lastIndexOf(":") + 1);
    this.ctx.storage.sql.exec(
      "DELETE FROM entries WHERE key IN (SELECT key FROM entries WHERE key > ? AND key < ? AND key <> ? ORDER BY expires DESC LIMIT -1 OFFSET ?)",
      ...[prefix, `${prefix}\u{10ffff}`, key, TOKENS_MAX - 1],
    );
  }

  /** Deletes what has expired; with a grant that no client ever traded its code for, the account's goes too. */
  #prune(now: number): number | undefined {
    const { sql } = this.ctx.storage;
    const gone = sql
      .exec<{ key: string; value: string }>(
        "SELECT key, value FROM entries WHERE expires <= ? AND key LIKE ?",
        ...[now, `${PREFIX.grant}%`],
      )
      .toArray();
    for (const { key } of gone) this.#dropGrant(key);
    sql.exec("DELETE FROM entries WHERE expires <= ?", now);
    this.#end(
      gone.map(({ value }) => value),
      now,
    );
    const { next } = sql.exec<{ next: number | null }>("SELECT MIN(expires) AS next FROM entries").one();
    return next ?? undefined;
  }

  /** Notes that these grants of the library are over. */
  #end(values: readonly string[], now: number): void {
    for (const value of values) {
      const grant = accountGrantOf(value);
      if (grant) this.ctx.storage.sql.exec("INSERT OR IGNORE INTO ended (grant_id) VALUES (?)", grant);
    }
    if (values.length > 0) this.#alarms.by("ended", now + TELL_AGAIN);
  }

  async #tellEnded(): Promise<undefined> {
    const { sql } = this.ctx.storage;
    const account = this.env.ACCOUNT.getByName((this.ctx.id.name ?? "").slice(OF_ACCOUNT.length));
    for (const { grant_id } of sql.exec<{ grant_id: string }>("SELECT grant_id FROM ended").toArray()) {
      await account.disconnectClient(grant_id as GrantId);
      sql.exec("DELETE FROM ended WHERE grant_id = ?", grant_id);
    }
    return undefined;
  }
}

/** The account's grant that a grant of the library stands for. */
function accountGrantOf(value: string): string | undefined {
  const { metadata } = JSON.parse(value) as { metadata?: { grant?: string } };
  return metadata?.grant;
}

/** The object that keeps clients. */
export function clientStore(stores: DurableObjectNamespace<OAuthStore>): DurableObjectStub<OAuthStore> {
  return stores.getByName(CLIENTS);
}

/** The object that keeps an account's grants and tokens. */
export function grantStore(
  stores: DurableObjectNamespace<OAuthStore>,
  account: AccountId,
): DurableObjectStub<OAuthStore> {
  return stores.getByName(OF_ACCOUNT + account);
}
