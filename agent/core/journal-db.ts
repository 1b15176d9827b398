/** The journal's file: opened by one agent at a time; a damaged file is moved aside, never repaired by guessing. */
import { closeSync, existsSync, openSync, renameSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { agentError, MatrxError } from "@matrx/shared/errors.ts";

/**
 * Run in order, starting at the file's version (`user_version`); once released, a migration never changes
 * (docs/storage.md). Files from before there were versions count as version 0.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS calls (
    call TEXT PRIMARY KEY,
    tool TEXT NOT NULL,
    input TEXT,
    state TEXT NOT NULL,
    started INTEGER NOT NULL,
    finished INTEGER,
    header TEXT,
    body BLOB,
    bytes INTEGER NOT NULL DEFAULT 0,
    acknowledged INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX IF NOT EXISTS calls_unacknowledged ON calls (finished) WHERE acknowledged = 0;
`,
  `
  ALTER TABLE calls ADD COLUMN caller_id TEXT;
  ALTER TABLE calls ADD COLUMN grant_id TEXT;
  ALTER TABLE calls ADD COLUMN key TEXT;
  ALTER TABLE calls ADD COLUMN deadline INTEGER;
  CREATE UNIQUE INDEX calls_key ON calls (grant_id, key) WHERE key IS NOT NULL;
`,
];

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.user_version);
}

/** Migrates the tables to this program's version. */
function migrate(db: DatabaseSync): void {
  const version = versionOf(db);
  for (const [index, migration] of MIGRATIONS.entries()) {
    if (index >= version) db.exec(`BEGIN; ${migration}; PRAGMA user_version = ${index + 1}; COMMIT`);
  }
}

const BUSY = 5;
const DAMAGED: readonly number[] = [11, 26];

/**
 * Opens the database exclusively, after waiting up to `busyMs` for whoever holds it. `setAside` is told where a damaged
 * one was moved to.
 */
export function openDatabase(path: string, busyMs: number, setAside: (to: string) => unknown): DatabaseSync {
  try {
    return openChecked(path, busyMs);
  } catch (cause) {
    const code = errorCodeOf(cause);
    if (code === BUSY) throw inUse(path, cause);
    if (code === undefined || !DAMAGED.includes(code)) throw cause;
  }
  const to = moveAside(path);
  closeSync(openSync(path, "a", 0o600));
  setAside(to);
  return openChecked(path, busyMs);
}

/**
 * Locks a file until disposed of or the process ends, after waiting up to `busyMs` for whoever holds it. Undefined if it
 * cannot be locked.
 */
export function holdFile(path: string, busyMs: number): Disposable | undefined {
  let db: DatabaseSync | undefined;
  try {
    closeSync(openSync(path, "a", 0o600));
    db = new DatabaseSync(path, { timeout: busyMs });
    db.exec("BEGIN EXCLUSIVE");
    return db;
  } catch {
    db?.close();
    return undefined;
  }
}

function openChecked(path: string, busyMs: number): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: busyMs });
  try {
    // Checked before anything may write: a newer program's file stays untouched.
    const version = versionOf(db);
    if (version > MIGRATIONS.length) throw newerJournalError(path, version);
    // Exclusive: a second agent in the same folder would run the same calls.
    db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL");
    db.exec("PRAGMA synchronous = FULL; BEGIN IMMEDIATE; COMMIT");
    const check = db.prepare("PRAGMA quick_check(1)").get();
    if (check?.quick_check !== "ok") throw Object.assign(new Error("quick_check"), { errcode: DAMAGED[0] });
    migrate(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function moveAside(path: string): string {
  const to = `${path}.damaged-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, to + suffix);
  }
  return to;
}

function errorCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

function inUse(path: string, cause: unknown): MatrxError {
  return agentError("UNAVAILABLE", `matrx is already running here (it is using ${path})`, {
    hint: "Stop the other one, or set MATRX_HOME to another folder for this one",
    cause,
  });
}

function newerJournalError(path: string, version: number): MatrxError {
  return agentError(
    "UNAVAILABLE",
    `${path} was written by a newer matrx: it is of version ${version}, and this program knows up to ${MIGRATIONS.length}. It was left untouched`,
    { hint: "Update matrx on this machine; or set MATRX_HOME to another folder for this older one" },
  );
}

/** The error for a journal that the system or the database refused, in plain words. */
export function unusableJournalError(path: string, cause: unknown): MatrxError {
  if (cause instanceof MatrxError) return cause;
  const why =
    cause instanceof Error && "errstr" in cause ? cause.errstr : (cause as NodeJS.ErrnoException).code;
  return agentError("UNAVAILABLE", `${path} cannot be opened for writing (${why ?? String(cause)})`, {
    hint: "Free some space there, and check that the file belongs to this user; or set MATRX_HOME to another folder",
    cause,
  });
}
