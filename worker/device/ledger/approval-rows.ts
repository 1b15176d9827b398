/** The durable side of approvals: parked calls, what was decided, and what is allowed for an hour. */
import type { CallApproval, Reach } from "@matrx/shared/approval.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import type { CallId, GrantId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { Question } from "@matrx/shared/question.ts";
import type { StorageHealth } from "../../storage/health.ts";
import type { Sql } from "../../storage/watched.ts";
import { isOpen, type Stage } from "./approval-state.ts";
import { callApproval, type Parked, type ParkedParts } from "./parked.ts";

export interface ApprovalRow extends Record<string, SqlStorageValue> {
  id: string;
  call: string;
  grant_id: string;
  tool: string;
  effect: string;
  stage: string;
  created: number;
  expires: number;
  /** JSON of `ParkedParts`. */
  wanted: string;
  binding: string | null;
  at: string | null;
  /** JSON. */
  question: string | null;
  /** Null: nobody was asked. */
  summary: string | null;
  edited: number;
  decided: number | null;
  decided_by: string | null;
  reach: string | null;
  note: string | null;
}

/** What a person, or somebody at the machine, decided. */
export interface Decided {
  readonly by: string;
  readonly at: number;
  readonly reach?: Reach | undefined;
  readonly note?: string | undefined;
}

const COLUMNS =
  "id, call, grant_id, tool, effect, stage, created, expires, wanted, binding, at, question, summary, edited, decided, decided_by, reach, note";

export class ApprovalRows {
  readonly #sql: Sql;
  readonly #health: Pick<StorageHealth, "isFailing" | "requireWritable">;

  constructor(sql: Sql, health: Pick<StorageHealth, "isFailing" | "requireWritable">) {
    this.#sql = sql;
    this.#health = health;
  }

  /** Throws MatrxError `UNAVAILABLE` while storage takes no writes. */
  requireWritable(): void {
    this.#health.requireWritable();
  }

  add({ id, call, grant, tool, effect, stage, created, expires, wanted }: Parked, input: string): void {
    this.#sql.exec(
      `INSERT INTO approvals (id, call, grant_id, tool, effect, stage, created, expires, wanted, input)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[id, call, grant, tool, effect, stage, created, expires, JSON.stringify(wanted), input],
    );
  }

  /** A person is asked from now on. */
  ask({ id, stage, expires, binding, at, summary }: Parked, question: Question): void {
    this.#sql.exec(
      "UPDATE approvals SET stage = ?, expires = ?, binding = ?, at = ?, summary = ?, question = ? WHERE id = ?",
      ...[stage, expires, binding ?? null, at ?? null, summary ?? null, JSON.stringify(question), id],
    );
  }

  /** It is known who waits for the call, or that nobody does. */
  putWanted({ id, wanted }: Parked): void {
    this.#sql.exec("UPDATE approvals SET wanted = ? WHERE id = ?", JSON.stringify(wanted), id);
  }

  /** The person's own input replaces the caller's. */
  edit(parked: Parked, input: string, question: Question): void {
    this.ask(parked, question);
    this.#sql.exec("UPDATE approvals SET edited = 1, input = ? WHERE id = ?", input, parked.id);
  }

  decide({ id, stage }: Parked, { by, at, reach, note }: Decided): void {
    this.#sql.exec(
      "UPDATE approvals SET stage = ?, decided = ?, decided_by = ?, reach = ?, note = ? WHERE id = ?",
      ...[stage, at, by, reach ?? null, note ?? null, id],
    );
  }

  /**
   * Writes the stage. The input of a call that was sent is kept until it is known that the device has it; that of others
   * which wait no more is dropped, and all of it if nobody was asked.
   */
  put({ id, stage, expires, binding, summary }: Parked): void {
    if (isOpen(stage)) {
      const query = "UPDATE approvals SET stage = ?, expires = ?, binding = ? WHERE id = ?";
      this.#sql.exec(query, stage, expires, binding ?? null, id);
    } else if (summary === undefined) this.#sql.exec("DELETE FROM approvals WHERE id = ?", id);
    else if (stage === "sent") this.#sql.exec("UPDATE approvals SET stage = ? WHERE id = ?", stage, id);
    else this.#end(id, stage);
  }

  /** A call that was allowed and sent, while it may have to be sent again. */
  sent(call: string): Parked | undefined {
    const query = `SELECT ${COLUMNS} FROM approvals WHERE call = ? AND stage = 'sent' AND input IS NOT NULL`;
    return this.#sql.exec<ApprovalRow>(query, call).toArray().map(parkedOf)[0];
  }

  /** A call that was allowed need not be sent again. */
  settle(call: string): void {
    const sent = this.#health.isFailing ? undefined : this.sent(call);
    if (sent) this.#end(sent.id, sent.stage);
  }

  /** Questions are large, so only so many are kept of what is over. */
  #end(id: string, stage: Stage): void {
    this.#sql.exec("UPDATE approvals SET stage = ?, input = NULL WHERE id = ?", stage, id);
    this.#sql.exec(
      "DELETE FROM approvals WHERE rowid <= (SELECT MAX(rowid) FROM approvals) - ? AND input IS NULL",
      LIMITS.approvalsKept,
    );
  }

  find(id: string): ApprovalRow | undefined {
    return this.#sql.exec<ApprovalRow>(`SELECT ${COLUMNS} FROM approvals WHERE id = ?`, id).toArray()[0];
  }

  ofCall(call: string): ApprovalRow | undefined {
    return this.#sql.exec<ApprovalRow>(`SELECT ${COLUMNS} FROM approvals WHERE call = ?`, call).toArray()[0];
  }

  input(id: string): string {
    const [row] = this.#sql.exec<{ input: string | null }>("SELECT input FROM approvals WHERE id = ?", id);
    return row?.input ?? "{}";
  }

  question(id: string): Question | undefined {
    const row = this.find(id);
    return row?.question ? (JSON.parse(row.question) as Question) : undefined;
  }

  /** The calls that still wait, oldest first. */
  open(): Parked[] {
    return this.#sql
      .exec<ApprovalRow>(
        `SELECT ${COLUMNS} FROM approvals WHERE input IS NOT NULL AND stage != 'sent' ORDER BY created LIMIT ?`,
        LIMITS.approvalsPerDevice,
      )
      .toArray()
      .map(parkedOf);
  }

  /** Equal calls pass without a question for an hour. */
  allow({ grant, binding = "", id }: Parked, now: number): void {
    this.#sql.exec("DELETE FROM allowances WHERE until <= ?", now);
    this.#sql.exec(
      "INSERT OR REPLACE INTO allowances (grant_id, binding, approval, until) VALUES (?, ?, ?, ?)",
      ...[grant, binding, id, now + TIMES.allowance],
    );
  }

  /** The approval by which an equal call was allowed for an hour. */
  allowance(grant: GrantId, binding: string, now: number): string | undefined {
    const [row] = this.#sql.exec<{ approval: string }>(
      "SELECT approval FROM allowances WHERE grant_id = ? AND binding = ? AND until > ?",
      ...[grant, binding, now],
    );
    return row?.approval;
  }

  forgetGrant(grant: GrantId): void {
    this.#sql.exec("DELETE FROM allowances WHERE grant_id = ?", grant);
  }

  /** Settled approvals are deleted with their call's record. */
  prune(now: number): void {
    if (this.#health.isFailing) return;
    this.#sql.exec("DELETE FROM allowances WHERE until <= ?", now);
    this.#sql.exec(
      "DELETE FROM approvals WHERE (input IS NULL OR stage = 'sent') AND call NOT IN (SELECT call FROM ledger)",
    );
  }
}

/** What the call's record says of it; undefined if nobody was asked. */
export function callApprovalOf(row: ApprovalRow | undefined): CallApproval | undefined {
  return row && callApproval({ ...row, stage: row.stage as Stage, edited: row.edited === 1 });
}

function parkedOf(row: ApprovalRow): Parked {
  const { id, stage, created, expires, binding, at, summary } = row;
  return {
    ...{ id, approval: id, call: row.call as CallId, grant: row.grant_id as GrantId, tool: row.tool },
    ...{ effect: row.effect as Effect, stage: stage as Stage, created, expires },
    wanted: JSON.parse(row.wanted) as ParkedParts,
    ...(binding !== null && { binding }),
    ...(at === "machine" && { at }),
    ...(summary !== null && { summary }),
    ...{ edited: row.edited === 1, isChecking: false },
  };
}
