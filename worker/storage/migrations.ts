/**
 * The tables and keys of each object, as numbered steps: a new table is a new step at the end of its list. Step 1 also
 * handles data stored before there were versions, so some of its tables may already exist.
 */
import type { Migration } from "./migrate.ts";
import type { Kv } from "./watched.ts";

export const ACCOUNT: readonly Migration[] = [
  ({ sql }) => {
    sql.exec(`CREATE TABLE IF NOT EXISTS devices (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, created INTEGER NOT NULL) WITHOUT ROWID`);
    sql.exec("CREATE TABLE IF NOT EXISTS removed (id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID");
    sql.exec(`CREATE TABLE IF NOT EXISTS grants (
      id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, created INTEGER NOT NULL,
      expires INTEGER NOT NULL, version INTEGER NOT NULL, may TEXT NOT NULL) WITHOUT ROWID`);
    sql.exec(`CREATE TABLE IF NOT EXISTS leases (
      grant_id TEXT NOT NULL, device TEXT NOT NULL, PRIMARY KEY (grant_id, device)) WITHOUT ROWID`);
    sql.exec("CREATE TABLE IF NOT EXISTS used (id TEXT PRIMARY KEY, expires INTEGER NOT NULL) WITHOUT ROWID");
    sql.exec("CREATE TABLE IF NOT EXISTS guesses (id INTEGER PRIMARY KEY, at INTEGER NOT NULL)");
    // It had one row for all guesses in the same millisecond.
    sql.exec("DROP TABLE IF EXISTS wrong");
    sql.exec(`CREATE TABLE IF NOT EXISTS outbox (
      id INTEGER PRIMARY KEY AUTOINCREMENT, device TEXT NOT NULL, body TEXT NOT NULL,
      tries INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL)`);
  },
  ({ sql, kv }) => {
    const { outbox, expiry } = sql
      .exec<{ outbox: number | null; expiry: number | null }>(
        "SELECT (SELECT MIN(due) FROM outbox) AS outbox, (SELECT MIN(expires) FROM grants) AS expiry",
      )
      .one();
    putAlarms(kv, { outbox, expiry });
  },
  ({ sql }) => {
    // The rights of existing tokens stay as they were: what is now closed to new ones by default stays open to them.
    sql.exec(
      "UPDATE grants SET may = json_set(may, '$.secrets', 'open') WHERE kind = 'api' AND NOT json_extract(may, '$.owner')",
    );
  },
  ({ sql }) => {
    sql.exec("ALTER TABLE devices ADD COLUMN tags TEXT NOT NULL DEFAULT '[]'");
    // Grants did not change before, so whoever holds one has its only version.
    sql.exec("ALTER TABLE leases ADD COLUMN version INTEGER NOT NULL DEFAULT 1");
    sql.exec("ALTER TABLE leases ADD COLUMN acknowledged INTEGER NOT NULL DEFAULT 1");
  },
  ({ sql }) => {
    // Decided ones stay for a while, since what a device tells of one may arrive in any order.
    sql.exec(`CREATE TABLE IF NOT EXISTS approvals (
      id TEXT PRIMARY KEY, device TEXT NOT NULL, grant_id TEXT NOT NULL, state TEXT NOT NULL, created INTEGER NOT NULL,
      expires INTEGER NOT NULL, view TEXT NOT NULL) WITHOUT ROWID`);
  },
  ({ sql }) => {
    sql.exec(`CREATE TABLE IF NOT EXISTS passkeys (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, host TEXT NOT NULL, public_key BLOB NOT NULL, counter INTEGER NOT NULL,
      transports TEXT NOT NULL, backed_up INTEGER NOT NULL, created INTEGER NOT NULL, used INTEGER) WITHOUT ROWID`);
    // SHA-256 of each code, in hex; a used one goes.
    sql.exec(
      "CREATE TABLE IF NOT EXISTS recovery_codes (hash TEXT PRIMARY KEY, created INTEGER NOT NULL) WITHOUT ROWID",
    );
    sql.exec(`CREATE TABLE IF NOT EXISTS invites (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, account TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL,
      accepted INTEGER) WITHOUT ROWID`);
    // What other accounts share with this one: the grant is theirs.
    sql.exec(`CREATE TABLE IF NOT EXISTS received_shares (
      grant_id TEXT PRIMARY KEY, account TEXT NOT NULL, name TEXT NOT NULL, created INTEGER NOT NULL) WITHOUT ROWID`);
    sql.exec(
      "CREATE TABLE IF NOT EXISTS audit_outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, draft TEXT NOT NULL)",
    );
    // One row, once somebody has named or closed the account.
    sql.exec(`CREATE TABLE IF NOT EXISTS profile (
      id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT, closed INTEGER)`);
    // At the relay's owner.
    sql.exec(
      "CREATE TABLE IF NOT EXISTS closed_accounts (account TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID",
    );
  },
  ({ sql }) => {
    sql.exec(`CREATE TABLE IF NOT EXISTS cloud_files (
      id TEXT PRIMARY KEY, state TEXT NOT NULL, size INTEGER, arrived INTEGER NOT NULL, sha256 TEXT, heard INTEGER NOT NULL,
      created INTEGER NOT NULL, expires INTEGER NOT NULL, facts TEXT NOT NULL) WITHOUT ROWID`);
  },
  ({ sql }) => {
    sql.exec(`CREATE TABLE IF NOT EXISTS push_subscriptions (
      id TEXT PRIMARY KEY, grant_id TEXT NOT NULL, endpoint TEXT NOT NULL, p256dh TEXT NOT NULL, auth TEXT NOT NULL,
      contact TEXT NOT NULL, name TEXT NOT NULL, kinds TEXT NOT NULL, created INTEGER NOT NULL, succeeded INTEGER,
      problem TEXT, rate INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID`);
    // `due` is null once a question was sent that may have to be withdrawn.
    sql.exec(`CREATE TABLE IF NOT EXISTS push_messages (
      id INTEGER PRIMARY KEY AUTOINCREMENT, subscription TEXT NOT NULL, about TEXT NOT NULL, body TEXT NOT NULL,
      urgency TEXT NOT NULL, role TEXT NOT NULL, expires INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
      due INTEGER, UNIQUE (subscription, about))`);
  },
];

export const DEVICE: readonly Migration[] = [
  ({ sql }) => {
    sql.exec(`CREATE TABLE IF NOT EXISTS ledger (
      call TEXT PRIMARY KEY, grant_id TEXT NOT NULL, tool TEXT NOT NULL, effect TEXT NOT NULL,
      state TEXT NOT NULL, key TEXT, digest TEXT, created INTEGER NOT NULL, deadline INTEGER NOT NULL,
      finished INTEGER, status TEXT, code TEXT, exit INTEGER, ms REAL, bytes INTEGER, sha256 TEXT,
      preview TEXT, outcome BLOB) WITHOUT ROWID`);
    sql.exec("CREATE UNIQUE INDEX IF NOT EXISTS ledger_key ON ledger (grant_id, key) WHERE key IS NOT NULL");
    sql.exec(`CREATE TABLE IF NOT EXISTS events (
      seq INTEGER PRIMARY KEY, id TEXT NOT NULL, event_type TEXT NOT NULL, key TEXT, severity TEXT, data TEXT NOT NULL,
      resolved INTEGER NOT NULL, open INTEGER NOT NULL, timestamp TEXT, received INTEGER NOT NULL,
      taken_until INTEGER NOT NULL, dropped INTEGER NOT NULL)`);
  },
  ({ kv }) => {
    renameKey(kv, "introduction", "device_info");
    renameKey(kv, "farewell", "last_seen");
  },
  ({ sql, kv }) => {
    const [oldest] = sql.exec<{ created: number }>("SELECT created FROM ledger LIMIT 1");
    putAlarms(kv, { prune: oldest?.created });
  },
  ({ sql }) => {
    // `input` is null once the call is over.
    sql.exec(`CREATE TABLE IF NOT EXISTS approvals (
      id TEXT PRIMARY KEY, call TEXT NOT NULL, grant_id TEXT NOT NULL, tool TEXT NOT NULL, effect TEXT NOT NULL,
      stage TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL, wanted TEXT NOT NULL, input TEXT,
      binding TEXT, at TEXT, question TEXT, summary TEXT, edited INTEGER NOT NULL DEFAULT 0, decided INTEGER,
      decided_by TEXT, reach TEXT, note TEXT)`);
    sql.exec("CREATE INDEX IF NOT EXISTS approvals_call ON approvals (call)");
    sql.exec("CREATE INDEX IF NOT EXISTS approvals_open ON approvals (created) WHERE input IS NOT NULL");
    sql.exec(`CREATE TABLE IF NOT EXISTS allowances (
      grant_id TEXT NOT NULL, binding TEXT NOT NULL, approval TEXT NOT NULL, until INTEGER NOT NULL,
      PRIMARY KEY (grant_id, binding)) WITHOUT ROWID`);
    sql.exec(`CREATE TABLE IF NOT EXISTS outbox (
      id INTEGER PRIMARY KEY AUTOINCREMENT, device TEXT NOT NULL, body TEXT NOT NULL,
      tries INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL)`);
  },
  ({ sql }) => {
    // For a call that the record must tell of: who made it and its shortened input, as JSON. Older calls are not told.
    sql.exec("ALTER TABLE ledger ADD COLUMN audit TEXT");
    sql.exec(
      "CREATE TABLE IF NOT EXISTS audit_outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, draft TEXT NOT NULL)",
    );
  },
];

export const DIRECTORY: readonly Migration[] = [
  ({ sql }) => {
    sql.exec(
      "CREATE TABLE IF NOT EXISTS devices (device TEXT PRIMARY KEY, account TEXT NOT NULL) WITHOUT ROWID",
    );
  },
  ({ sql }) => {
    sql.exec("CREATE TABLE IF NOT EXISTS accounts (account TEXT PRIMARY KEY) WITHOUT ROWID");
  },
];

export const AUDIT: readonly Migration[] = [
  ({ sql }) => {
    sql.exec(`CREATE TABLE entries (
      first INTEGER PRIMARY KEY, last INTEGER NOT NULL, at INTEGER NOT NULL, hash TEXT NOT NULL, lines TEXT NOT NULL)`);
  },
];

export const PAIRING: readonly Migration[] = [
  ({ kv }) => {
    const codes = Array.from(kv.list<{ expires: number }>());
    for (const [code] of codes) renameKey(kv, code, `code:${code}`);
    const expires = codes.map(([, row]) => row.expires);
    if (expires.length > 0) putAlarms(kv, { expiry: Math.min(...expires) });
  },
];

export const OAUTH_STORE: readonly Migration[] = [
  ({ sql }) => {
    // `expires` in milliseconds since 1970; `version` counts the writes.
    sql.exec(`CREATE TABLE entries (
      key TEXT PRIMARY KEY, value TEXT NOT NULL, metadata TEXT, expires INTEGER, version INTEGER NOT NULL) WITHOUT ROWID`);
    sql.exec("CREATE INDEX entries_expires ON entries (expires) WHERE expires IS NOT NULL");
    // Grants whose tokens are gone, until their account knows.
    sql.exec("CREATE TABLE ended (grant_id TEXT PRIMARY KEY) WITHOUT ROWID");
  },
  ({ sql }) => {
    // Refresh tokens that were replaced, by their hashes. `grant_key` is a key of `entries`, `at` milliseconds since 1970,
    // `answer` what it was traded for, sealed with the token itself, for a minute.
    sql.exec(`CREATE TABLE replaced (
      token TEXT PRIMARY KEY, grant_key TEXT NOT NULL, at INTEGER NOT NULL, answer TEXT) WITHOUT ROWID`);
    sql.exec("CREATE INDEX replaced_grant ON replaced (grant_key, at)");
    sql.exec("CREATE INDEX replaced_answers ON replaced (at) WHERE answer IS NOT NULL");
  },
];

/** Writes the first rows of an object's alarm table, which replaces a single alarm for everything. */
function putAlarms(kv: Pick<Kv, "put">, dues: Record<string, number | null | undefined>): void {
  const rows = Object.entries(dues).flatMap(([name, due]) => (due ? [[name, { due, failures: 0 }]] : []));
  if (rows.length > 0) kv.put("alarms", Object.fromEntries(rows));
}

function renameKey(kv: Pick<Kv, "get" | "put" | "delete">, from: string, to: string): void {
  const value = kv.get(from);
  if (value === undefined) return;
  kv.put(to, value);
  kv.delete(from);
}
