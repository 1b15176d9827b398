/**
 * The journal: which calls with an effect were begun here, and how they ended. A row is on disk before its tool runs, so
 * that a call runs at most once, whatever crashes in between.
 */
import { closeSync, openSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { Logger } from "pino";
import type { Outcome } from "./answers.ts";
import { openDatabase, unusableJournalError } from "./journal-db.ts";
import {
  type Beginning,
  COLUMNS,
  entryOf,
  IS_LOCAL,
  isLocalGrant,
  type JournalEntry,
  JournalFacts,
  type KnownLedger,
  type Row,
} from "./journal-entry.ts";

interface WaitingBeginning extends Beginning {
  readonly call: string;
  readonly tool: string;
  readonly settle: { resolve: () => void; reject: (error: unknown) => void };
}

/** Rows outlive their bodies, so that a late repeat is still known. */
const ROW_KEPT = 2 * TIMES.outcomeKept;
/** A little shorter than at the relay, so that a key that is free there is free here. In milliseconds. */
const KEY_KEPT = TIMES.outcomeKept - 10 * 60 * 1000;
/** How often expired rows are pruned, in milliseconds. */
const PRUNE_EVERY = 60 * 60 * 1000;
/** Acknowledgements are written in batches, after at most this many milliseconds. */
const ACKNOWLEDGE_WITHIN = 200;

/** The columns that mean the same in any journal. */
const ADOPTED = [
  ...["call", "tool", "input", "state", "started", "finished", "header", "body", "bytes"],
  ...["caller_id", "grant_id", "key", "deadline"],
];

export interface JournalOptions {
  /** Limit on all outcomes together, in bytes. */
  readonly maxBytes?: number;
  /** How long to wait for an agent that holds the file, in milliseconds. */
  readonly busyMs?: number;
  /** Called with the new path of a damaged file. */
  readonly setAside?: (to: string) => unknown;
  /** Called when an optional write fails, for example on a full disk. */
  readonly failed?: (error: unknown) => unknown;
}

export class Journal {
  /** Created together with the file: a new one means that earlier calls are forgotten. */
  readonly id: string;
  readonly #db: DatabaseSync;
  readonly #facts: JournalFacts;
  readonly #maxBytes: number;
  readonly #failed: (error: unknown) => unknown;
  readonly #pruning: NodeJS.Timeout;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #select: StatementSync;
  readonly #selectByKey: StatementSync;
  readonly #acknowledge: StatementSync;
  readonly #oldest: StatementSync;
  readonly #dropBody: StatementSync;
  readonly #syncFull: StatementSync;
  readonly #syncNormal: StatementSync;
  #beginnings: WaitingBeginning[] = [];
  /** Outcomes that found no room on the disk: only of calls that were running when it became full. */
  readonly #unwritten = new Map<string, Outcome>();
  #acknowledged: string[] = [];
  #acknowledgeTimer: NodeJS.Timeout | undefined;
  #keptBytes = 0;
  #closed = false;

  /** Opens or creates the file. Throws MatrxError if another agent has locked it. */
  constructor(
    path: string,
    {
      maxBytes = LIMITS.journalBytes,
      busyMs = 1000,
      setAside = silent,
      failed = silent,
    }: JournalOptions = {},
  ) {
    closeSync(openSync(path, "a", 0o600));
    this.#db = openDatabase(path, busyMs, setAside);
    this.#maxBytes = maxBytes;
    this.#failed = failed;
    this.#facts = new JournalFacts(this.#db);
    this.id = this.#facts.journalId();
    this.#insert = this.#db.prepare(
      `INSERT INTO calls (call, tool, input, state, started, caller_id, grant_id, key, deadline, acknowledged)
       VALUES (?, ?, ?, 'started', ?, ?, ?, ?, ?, ?)`,
    );
    this.#update = this.#db.prepare(
      `UPDATE calls SET state = 'finished', finished = ?, header = ?, body = ?, bytes = ?, key = iif(?, NULL, key)
       WHERE call = ?`,
    );
    this.#select = this.#db.prepare(`SELECT ${COLUMNS} FROM calls WHERE call = ?`);
    this.#selectByKey = this.#db.prepare(`SELECT ${COLUMNS} FROM calls WHERE grant_id = ? AND key = ?`);
    this.#acknowledge = this.#db.prepare(
      `UPDATE calls SET acknowledged = 1,
         body = iif(bytes <= ${LIMITS.ledgerOutcomeBytes} AND key IS NULL, NULL, body)
       WHERE call = ? AND acknowledged = 0 AND state = 'finished'
       RETURNING iif(body IS NULL, bytes, 0) AS freed`,
    );
    this.#oldest = this.#db.prepare(
      "SELECT call, bytes FROM calls WHERE body IS NOT NULL ORDER BY acknowledged DESC, finished LIMIT 1",
    );
    this.#dropBody = this.#db.prepare("UPDATE calls SET body = NULL WHERE call = ?");
    this.#syncFull = this.#db.prepare("PRAGMA synchronous = FULL");
    this.#syncNormal = this.#db.prepare("PRAGMA synchronous = NORMAL");
    this.#tidy(() => this.prune());
    this.#pruning = setInterval(() => this.#tidy(() => this.prune()), PRUNE_EVERY).unref();
  }

  /** What is known about a call; undefined if it was never seen. */
  find(call: string): JournalEntry | undefined {
    const row = this.#select.get(call) as Row | undefined;
    return row && this.#entryOf(row);
  }

  /** The call that a grant's idempotency key stands for. Frees an expired key. */
  findByKey(grant: string, key: string, now: number = Date.now()): JournalEntry | undefined {
    const row = this.#selectByKey.get(grant, key) as Row | undefined;
    if (!row) return undefined;
    if (row.started > now - KEY_KEPT) {
      const entry = this.#entryOf(row);
      return entry.header?.ran === false ? undefined : entry;
    }
    // If this fails, so does the next call's beginning, which says why.
    this.#tidy(() => this.#db.prepare("UPDATE calls SET key = NULL WHERE call = ?").run(row.call));
    return undefined;
  }

  /** Calls that have begun and not ended; right after opening, those of an agent that died. Oldest first. */
  started(): JournalEntry[] {
    const rows = this.#db
      .prepare(`SELECT ${COLUMNS} FROM calls WHERE state = 'started' ORDER BY rowid`)
      .all();
    return rows.map((row) => entryOf(row as unknown as Row));
  }

  /** The relay's ledger that this device knew last, and its newest calls; undefined if it is another device's, or there is none yet. */
  ledgerOf(device: string): KnownLedger | undefined {
    return this.#facts.ledgerOf(device);
  }

  /** A relay named its ledger: calls from now on are recorded in it. */
  noteLedger(device: string, ledger: string): void {
    if (this.ledgerOf(device)?.ledger_id === ledger) return;
    this.#tidy(() => this.#facts.setLedger(device, ledger));
  }

  /** Marks a call as `unknown`: nobody can tell any more how it ended. */
  giveUp(call: string): void {
    this.#tidy(() => this.#db.prepare("UPDATE calls SET state = 'unknown' WHERE call = ?").run(call));
  }

  /**
   * Records that a call begins; resolves once that would survive a power cut. Calls that begin in the same turn share one
   * disk sync.
   */
  begin(call: string, tool: string, beginning: Beginning = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#beginnings.push({ ...beginning, call, tool, settle: { resolve, reject } });
      if (this.#beginnings.length === 1) setImmediate(() => this.#commitBeginnings());
    });
  }

  /**
   * Records how a call ended; if it did not run, its key becomes free. Survives a crash of the process. A power cut may
   * lose it, which leaves the call `unknown`, never run again. If it throws, this process knows the outcome, and writes it
   * later.
   */
  finish(call: string, outcome: Outcome): void {
    this.#unwritten.set(call, outcome);
    this.#writeOutcomes();
  }

  /** Whether the outcome of a call is here. */
  holds(call: string): boolean {
    return (
      this.#db.prepare("SELECT 1 FROM calls WHERE call = ? AND body IS NOT NULL").get(call) !== undefined
    );
  }

  /**
   * Stores a read's outcome until `drop`, because it waits for its reader and takes too much memory. Returns false if the
   * call is already known: its row, which keeps it from running twice, stays unchanged.
   */
  keep({ header, body }: Outcome): boolean {
    const now = Date.now();
    this.#syncNormal.run();
    try {
      const { changes } = this.#db
        .prepare(
          `INSERT OR IGNORE INTO calls (call, tool, state, started, finished, header, body, bytes, acknowledged)
           VALUES (?, ?, 'finished', ?, ?, ?, ?, ?, 1)`,
        )
        .run(header.call, header.tool ?? "", now, now, JSON.stringify(header), body, body.length);
      if (changes === 0) return false;
    } finally {
      this.#syncFull.run();
    }
    this.#keptBytes += body.length;
    this.#makeRoom();
    return true;
  }

  /** Deletes an outcome stored by `keep`. */
  drop(call: string): void {
    this.#tidy(() => {
      const row = this.#db
        .prepare("DELETE FROM calls WHERE call = ? RETURNING iif(body IS NULL, 0, bytes) AS freed")
        .get(call);
      this.#keptBytes -= Number(row?.freed ?? 0);
    });
  }

  /** The relay has stored these outcomes: small ones may be deleted here, unless an idempotency key may still ask for them. */
  acknowledge(calls: readonly string[]): void {
    this.#acknowledged.push(...calls);
    this.#acknowledgeTimer ??= setTimeout(() => this.#commitAcknowledged(), ACKNOWLEDGE_WITHIN).unref();
  }

  /** Calls whose outcome the relay has not acknowledged, oldest first. */
  unacknowledged(): string[] {
    this.#tidy(() => this.#writeOutcomes());
    this.#commitAcknowledged();
    const rows = this.#db
      .prepare(
        "SELECT call FROM calls WHERE state = 'finished' AND acknowledged = 0 ORDER BY finished, rowid",
      )
      .all();
    return rows.map((row) => String(row.call));
  }

  /**
   * Takes over what another journal knows of the calls of this machine's own programs, so that an idempotency key, or a
   * name that its caller chose, is known here that was used there.
   */
  adoptLocalCalls(other: Journal, now: number = Date.now()): void {
    const known = other.#db.prepare(
      `SELECT ${ADOPTED.join(", ")} FROM calls WHERE started > ? AND ${IS_LOCAL}`,
    );
    const adopt = this.#db.prepare(
      `INSERT OR IGNORE INTO calls (${ADOPTED.join(", ")}, acknowledged)
       VALUES (${ADOPTED.map((column) => `$${column}`).join(", ")}, 1)`,
    );
    this.#db.exec("BEGIN");
    try {
      this.#db
        .prepare("UPDATE calls SET key = NULL WHERE key IS NOT NULL AND started <= ?")
        .run(now - KEY_KEPT);
      for (const row of known.iterate(now - KEY_KEPT)) adopt.run(row);
      this.#db.exec("COMMIT");
    } finally {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
    }
    this.prune(now);
    this.#makeRoom();
  }

  /** Deletes expired rows. Running calls stay: they may look old because the clock was set. */
  prune(now: number = Date.now()): void {
    this.#db.prepare("UPDATE calls SET body = NULL WHERE finished < ?").run(now - TIMES.outcomeKept);
    this.#db
      .prepare("DELETE FROM calls WHERE state <> 'started' AND coalesce(finished, started) < ?")
      .run(now - ROW_KEPT);
    this.#db.exec("PRAGMA incremental_vacuum");
    this.#keptBytes = Number(
      this.#db.prepare("SELECT total(bytes) AS kept FROM calls WHERE body IS NOT NULL").get()?.kept,
    );
  }

  close(): void {
    if (this.#closed) return;
    clearInterval(this.#pruning);
    this.#commitBeginnings();
    this.#tidy(() => this.#writeOutcomes());
    this.#commitAcknowledged();
    this.#closed = true;
    this.#db.close();
  }

  #commitBeginnings(): void {
    const batch = this.#beginnings;
    this.#beginnings = [];
    if (batch.length === 0) return;
    try {
      // What ended before comes first: what cannot keep an outcome begins nothing more.
      this.#writeOutcomes();
      if (batch.length > 1) this.#db.exec("BEGIN");
      const now = Date.now();
      for (const { call, tool, input, id, grant, key, deadline } of batch) {
        const more = [id, grant, key, deadline].map((value) => value ?? null);
        this.#insert.run(call, tool, input ?? null, now, ...more, isLocalGrant(grant) ? 1 : 0);
      }
      if (batch.length > 1) this.#db.exec("COMMIT");
    } catch (cause) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      for (const { settle } of batch) settle.reject(unwritable(cause));
      return;
    }
    for (const { settle } of batch) settle.resolve();
  }

  #writeOutcomes(): void {
    if (this.#unwritten.size === 0) return;
    this.#syncNormal.run();
    try {
      for (const [call, { header, body }] of this.#unwritten) {
        const frees = header.ran === false ? 1 : 0;
        this.#update.run(Date.now(), JSON.stringify(header), body, body.length, frees, call);
        this.#unwritten.delete(call);
        this.#keptBytes += body.length;
      }
    } finally {
      this.#syncFull.run();
    }
    this.#tidy(() => this.#makeRoom());
  }

  #entryOf(row: Row): JournalEntry {
    const unwritten = this.#unwritten.get(row.call);
    return { ...entryOf(row), ...(unwritten && { ...unwritten, state: "finished" }) };
  }

  #commitAcknowledged(): void {
    clearTimeout(this.#acknowledgeTimer);
    this.#acknowledgeTimer = undefined;
    const calls = this.#acknowledged;
    this.#acknowledged = [];
    if (calls.length === 0 || this.#closed) return;
    // If this write fails, the acknowledgements are lost: those outcomes are sent and acknowledged again.
    this.#tidy(() => {
      let freed = 0;
      this.#syncNormal.run();
      try {
        this.#db.exec("BEGIN");
        for (const call of calls) freed += Number(this.#acknowledge.get(call)?.freed ?? 0);
        this.#db.exec("COMMIT");
      } finally {
        if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
        this.#syncFull.run();
      }
      this.#keptBytes -= freed;
    });
  }

  /** Runs an optional write: if it fails, the agent carries on. */
  #tidy(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#failed(error);
    }
  }

  #makeRoom(): void {
    while (this.#keptBytes > this.#maxBytes) {
      const oldest = this.#oldest.get();
      if (!oldest) return;
      this.#dropBody.run(String(oldest.call));
      this.#keptBytes -= Number(oldest.bytes);
    }
  }
}

/**
 * Opens the journal and logs its problems. Throws MatrxError if another agent has locked it, or it cannot be written.
 */
export function openJournal(
  path: string,
  log: Logger,
  options: Pick<JournalOptions, "busyMs"> = {},
): Journal {
  try {
    return new Journal(path, {
      ...options,
      setAside: (kept) =>
        log.error(
          { kept },
          "the journal was damaged: it was set aside and a new one created; earlier calls are forgotten",
        ),
      failed: (err) => log.error({ err }, "the journal could not be written; is the disk full?"),
    });
  } catch (cause) {
    throw unusableJournalError(path, cause);
  }
}

function silent(): void {}

function unwritable(cause: unknown): MatrxError {
  return agentError("UNAVAILABLE", "The call did not run: the device's journal can't be written", {
    hint: "Free up space on the device's disk, then try again",
    cause,
  });
}
