/**
 * The durable record of calls with an effect: one row before the frame is sent, one update when the outcome arrives.
 * A read gets a row only if its REST caller was sent away with 202, or if a person may be asked about it.
 */
import type { CallQuery, CallView } from "@matrx/shared/api.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import type { ErrorCode } from "@matrx/shared/errors.ts";
import { type CallId, type GrantId, makeCallId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import type { StorageHealth } from "../../storage/health.ts";
import type { Sql } from "../../storage/watched.ts";

/**
 * `expired`: never delivered. `unknown`: delivered, and its device cannot tell its outcome. A call that was answered but
 * did not run loses the digest of its key: freeing the key at once would cost one more index write.
 */
export type LedgerState = CallView["state"];

interface LedgerEntry {
  call: CallId;
  grant: GrantId;
  tool: string;
  effect: Effect;
  key: string | null;
  digest: string | null;
  created: number;
  deadline: number;
  /** It waits for a person, or is on its way. */
  state: Extract<LedgerState, "awaiting_approval" | "accepted">;
  /** What the record is to be told of it (`observing/drafts.ts`). */
  audit: string;
}

export interface LedgerRow extends Record<string, SqlStorageValue> {
  call: string;
  grant_id: string;
  tool: string;
  effect: string;
  state: string;
  digest: string | null;
  created: number;
  deadline: number;
  finished: number | null;
  status: string | null;
  code: string | null;
  bytes: number | null;
  outcome: ArrayBuffer | null;
}

/** What the record is told of a call. */
export type AuditedRow = Pick<
  LedgerRow,
  "call" | "grant_id" | "tool" | "effect" | "state" | "created" | "finished" | "status" | "code" | "bytes"
> & { exit: number | null; ms: number | null; preview: string | null; audit: string | null };

/** An outcome waiting to be written. */
interface Outcome {
  header: ResultHeader;
  /** Null if it is too large and stays in the agent's journal. */
  kept: ArrayBuffer | null;
  bytes: number;
  now: number;
}

const OUTCOMES_MAX_BYTES = 1024 * 1024;

export class Ledger {
  readonly #sql: Sql;
  readonly #health: Pick<StorageHealth, "isFailing" | "requireWritable">;
  #outcomes: Outcome[] = [];
  #outcomeBytes = 0;
  /** Bytes of all kept outcomes; counted on first use. */
  #kept: number | undefined;

  constructor(sql: Sql, health: Pick<StorageHealth, "isFailing" | "requireWritable">) {
    this.#sql = sql;
    this.#health = health;
  }

  /** Writes a call's row, before the call is sent. Throws MatrxError `UNAVAILABLE` if it cannot be written. */
  open(entry: LedgerEntry): void {
    this.#health.requireWritable();
    const { call, grant, tool, effect, state, key, digest, created, deadline, audit } = entry;
    this.#sql.exec(
      `INSERT INTO ledger (call, grant_id, tool, effect, state, key, digest, created, deadline, audit)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[call, grant, tool, effect, state, key, digest, created, deadline, audit],
    );
  }

  /** A call that waited for a person is sent now, perhaps with another input than its caller's. */
  release(call: CallId, deadline: number, audit: string): void {
    this.#health.requireWritable();
    this.#sql.exec(
      "UPDATE ledger SET state = 'accepted', deadline = ?, audit = ? WHERE call = ?",
      ...[deadline, audit, call],
    );
  }

  /**
   * Notes the outcome of an open call. `flush` writes outcomes in batches, since each separate write would hold up the
   * object for a disk sync. Until then it is not acknowledged, so the device keeps it. Returns false if storage fails and
   * too much is waiting for it: then the device has to send the outcome again.
   */
  finish(header: ResultHeader, body: Uint8Array, now: number): boolean {
    if (this.#outcomeBytes > OUTCOMES_MAX_BYTES) this.flush();
    if (this.#outcomeBytes > OUTCOMES_MAX_BYTES) return false;
    const kept = body.length <= LIMITS.ledgerOutcomeBytes ? body.slice().buffer : null;
    this.#outcomes.push({ header, kept, bytes: body.length, now });
    this.#outcomeBytes += kept?.byteLength ?? 0;
    return true;
  }

  /** Storage does not accept writes. */
  get takesNoRows(): boolean {
    return this.#health.isFailing;
  }

  /** Whether noted outcomes are waiting to be written. */
  get isUnsaved(): boolean {
    return this.#outcomes.length > 0;
  }

  /** Writes the noted outcomes if storage accepts writes. Everything that reads the ledger calls this first. */
  flush(): void {
    const outcomes = this.#outcomes;
    if (outcomes.length === 0 || this.#health.isFailing) return;
    this.#outcomes = [];
    this.#outcomeBytes = 0;
    for (const outcome of outcomes) this.#write(outcome);
  }

  #write({ header, kept, bytes, now }: Outcome): void {
    const { call, status, code = null, exit = null, ms, sha256 = null, preview = null, ran } = header;
    const { rowsWritten } = this.#sql.exec(
      `UPDATE ledger SET state = ?, finished = ?, status = ?, code = ?, exit = ?, ms = ?, bytes = ?, sha256 = ?,
       preview = ?, outcome = ?, digest = iif(?, NULL, digest) WHERE call = ? AND state IN ('accepted', 'unknown')`,
      ...[
        stateOf(header),
        now,
        status,
        code,
        exit,
        ms,
        bytes,
        sha256,
        preview,
        kept,
        ran === false ? 1 : 0,
        call,
      ],
    );
    if (kept && rowsWritten) this.#makeRoom(kept.byteLength);
  }

  /** Ends a call without an outcome of the device's; `answer` is what its callers got instead, if that must be kept. */
  close(call: CallId, state: "expired" | "unknown", code: ErrorCode, now: number, answer?: Uint8Array): void {
    this.flush();
    // The row stays open, and the device is asked again when it is back.
    if (this.#health.isFailing) return;
    this.#sql.exec(
      `UPDATE ledger SET state = ?1, code = ?2, finished = ?3, status = iif(?5 IS NULL, status, 'error'), bytes = ?6,
       outcome = ?5 WHERE call = ?4 AND state IN ('accepted', 'awaiting_approval')`,
      ...[state, code, now, call, answer?.slice().buffer ?? null, answer?.length ?? null],
    );
    if (answer) this.#makeRoom(answer.length);
  }

  find(call: CallId): LedgerRow | undefined {
    this.flush();
    const [row] = this.#sql.exec<LedgerRow>("SELECT * FROM ledger WHERE call = ?", call);
    return row && this.#withNoted(row);
  }

  /** The row, with its unwritten outcome if it has one. */
  #withNoted(row: LedgerRow): LedgerRow {
    const noted = this.#outcomes.find(({ header }) => header.call === row.call);
    if (!noted) return row;
    const { header, kept, bytes, now } = noted;
    const { status, code = null } = header;
    return { ...row, state: stateOf(header), finished: now, status, code, bytes, outcome: kept };
  }

  /** The call that a key stands for, unless it never ran or is too old. */
  findByKey(grant: GrantId, key: string, now: number): LedgerRow | undefined {
    this.flush();
    const [row] = this.#sql.exec<LedgerRow>(
      "SELECT * FROM ledger WHERE grant_id = ? AND key = ?",
      grant,
      key,
    );
    const neverRan = row?.state === "expired" || row?.digest === null;
    if (!row || (!neverRan && row.created > now - TIMES.outcomeKept)) return row && this.#withNoted(row);
    if (!this.#health.isFailing) this.#sql.exec("UPDATE ledger SET key = NULL WHERE call = ?", row.call);
    return undefined;
  }

  /** Records before a call, newest first, without outcomes; of one grant or of all. */
  list(grant: GrantId | undefined, { state, before, limit }: CallQuery): LedgerRow[] {
    this.flush();
    const wanted: readonly [string, string | undefined][] = [
      ["call < ?", before],
      ["grant_id = ?", grant],
      ["state = ?", state],
    ];
    const given = wanted.filter(([, value]) => value !== undefined);
    const where = given.map(([condition]) => condition).join(" AND ") || "1";
    return this.#sql
      .exec<LedgerRow>(
        `SELECT call, grant_id, tool, effect, state, digest, created, deadline, finished, status, code, bytes,
         iif(outcome IS NULL, NULL, x'00') AS outcome FROM ledger WHERE ${where} ORDER BY call DESC LIMIT ?`,
        ...given.map(([, value]) => value),
        limit,
      )
      .toArray();
  }

  /** What the record is told of a call; undefined if it has no row. */
  audited(call: CallId): AuditedRow | undefined {
    this.flush();
    const [row] = this.#sql.exec<AuditedRow>(
      `SELECT call, grant_id, tool, effect, state, created, finished, status, code, exit, ms, bytes, preview, audit
       FROM ledger WHERE call = ?`,
      call,
    );
    return row;
  }

  /** Calls that ended since then, in milliseconds since 1970. */
  endedSince(since: number): CallId[] {
    const rows = this.#sql.exec<{ call: string }>("SELECT call FROM ledger WHERE finished >= ?", since);
    return rows.toArray().map(({ call }) => call as CallId);
  }

  /** Calls whose outcome is still pending, oldest first. */
  openCalls(): CallId[] {
    this.flush();
    const rows = this.#sql.exec<{ call: string }>(
      "SELECT call FROM ledger WHERE state = 'accepted' LIMIT ?",
      LIMITS.unansweredPerDevice,
    );
    return rows.toArray().map(({ call }) => call as CallId);
  }

  /** The device's journal is gone, and with it the outcomes that only it had. */
  forgetJournal(): void {
    this.flush();
    if (this.#health.isFailing) return;
    this.#sql.exec(
      "UPDATE ledger SET bytes = NULL WHERE state = 'finished' AND outcome IS NULL AND bytes IS NOT NULL",
    );
  }

  prune(now: number): void {
    this.flush();
    if (this.#health.isFailing) return;
    this.#sql.exec("DELETE FROM ledger WHERE call < ?", makeCallId(now - TIMES.outcomeKept).slice(0, 14));
    this.#kept = undefined;
  }

  isEmpty(): boolean {
    return this.#sql.exec("SELECT 1 FROM ledger LIMIT 1").toArray().length === 0;
  }

  /** Deletes the oldest outcomes once the total exceeds the limit. */
  #makeRoom(bytes: number): void {
    this.#kept ??=
      this.#sql
        .exec<{ n: number | null }>("SELECT SUM(bytes) AS n FROM ledger WHERE outcome IS NOT NULL")
        .one().n ?? 0;
    this.#kept += bytes;
    while (this.#kept > LIMITS.ledgerBytes) {
      const freed = this.#sql
        .exec<{ bytes: number }>(
          `UPDATE ledger SET outcome = NULL WHERE call IN
           (SELECT call FROM ledger WHERE outcome IS NOT NULL ORDER BY call LIMIT 16) RETURNING bytes`,
        )
        .toArray()
        .reduce((sum, row) => sum + row.bytes, 0);
      this.#kept -= freed;
      if (freed === 0) return;
    }
  }
}

function stateOf({ code }: ResultHeader): LedgerState {
  return code === "OUTCOME_UNKNOWN" ? "unknown" : "finished";
}
