/** What waits for a decision on all devices of an account, as they tell it. A decision is made at the device itself. */
import type { ApprovalView } from "@matrx/shared/approval.ts";
import { TIMES } from "@matrx/shared/limits.ts";

interface ApprovalRow extends Record<string, SqlStorageValue> {
  state: string;
  /** JSON. */
  view: string;
}

/** How long a decided one is remembered, so that older news of it is recognised; in milliseconds. */
export const APPROVALS_KEPT = 2 * TIMES.approval;
/** How many settled ones are remembered. */
const SETTLED_MAX = 1000;
const LIST_MAX = 500;

export class AccountApprovals {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Notes what a device tells; returns it, or undefined if it is no news. */
  note(approval: ApprovalView, now: number): ApprovalView | undefined {
    const { id, device, grant, state, created } = approval;
    const [known] = this.#sql.exec<ApprovalRow>("SELECT state, view FROM approvals WHERE id = ?", id);
    const isOlder = known && known.state !== "pending" && state === "pending";
    const view = JSON.stringify(approval);
    if (isOlder || known?.view === view) return undefined;
    this.#sql.exec(
      `INSERT OR REPLACE INTO approvals (id, device, grant_id, state, created, expires, view)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ...[id, device, grant, state, Date.parse(created), Date.parse(approval.expires), view],
    );
    this.prune(now);
    return approval;
  }

  /** Those that wait, oldest first. */
  pending(now: number): ApprovalView[] {
    return this.#sql
      .exec<ApprovalRow>(
        "SELECT state, view FROM approvals WHERE state = 'pending' AND expires > ? ORDER BY created LIMIT ?",
        now,
        LIST_MAX,
      )
      .toArray()
      .map(({ view }) => JSON.parse(view) as ApprovalView);
  }

  forgetDevice(device: string): void {
    this.#sql.exec("DELETE FROM approvals WHERE device = ?", device);
  }

  prune(now: number): void {
    this.#sql.exec("DELETE FROM approvals WHERE expires <= ?", now - APPROVALS_KEPT);
    this.#sql.exec(
      `DELETE FROM approvals WHERE id IN
       (SELECT id FROM approvals WHERE state <> 'pending' ORDER BY expires DESC LIMIT -1 OFFSET ?)`,
      SETTLED_MAX,
    );
  }

  /** When the next one can be forgotten, in milliseconds since 1970. */
  nextPrune(): number | undefined {
    const { next } = this.#sql
      .exec<{ next: number | null }>("SELECT MIN(expires) AS next FROM approvals")
      .one();
    return next === null ? undefined : next + APPROVALS_KEPT;
  }
}
