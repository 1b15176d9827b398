/** Messages from one object to another that must not be lost: one row each, pushed until acknowledged. */
import { logWarning } from "./log.ts";
import type { Sql } from "./storage/watched.ts";

interface OutboxRow {
  id: number;
  /** The other object: a device, or a device's account. */
  device: string;
  body: string;
}

const RETRY_FIRST = 1_000;
const RETRY_MAX = 300_000;

export class Outbox {
  readonly #sql: Sql;
  readonly #deliver: (to: string, body: string) => Promise<void>;

  /** `deliver` resolves once the other object has acknowledged the message. */
  constructor(sql: Sql, deliver: (to: string, body: string) => Promise<void>) {
    this.#sql = sql;
    this.#deliver = deliver;
  }

  /** The same message that is not acknowledged yet goes out once. */
  enqueue(to: string, body: string, now: number): void {
    this.#sql.exec("DELETE FROM outbox WHERE device = ? AND body = ?", to, body);
    this.#sql.exec("INSERT INTO outbox (device, body, due) VALUES (?, ?, ?)", to, body, now);
  }

  /** Pushes what is due. Returns when the next push is due, or undefined when everything is acknowledged. */
  async flush(now: number): Promise<number | undefined> {
    const due = this.#sql
      .exec<{ id: number; device: string; body: string; tries: number }>(
        "SELECT id, device, body, tries FROM outbox WHERE due <= ? ORDER BY id LIMIT 100",
        now,
      )
      .toArray();
    await Promise.all(due.map((row) => this.#flushRow(row, now)));
    return this.#nextDue();
  }

  async #flushRow(row: OutboxRow & { tries: number }, now: number): Promise<void> {
    try {
      await this.#deliver(row.device, row.body);
      this.#sql.exec("DELETE FROM outbox WHERE id = ?", row.id);
    } catch (error) {
      const wait = Math.min(RETRY_FIRST * 2 ** row.tries, RETRY_MAX);
      logWarning(`outbox: ${row.device} did not acknowledge, again in ${wait} ms`, error);
      this.#sql.exec("UPDATE outbox SET tries = tries + 1, due = ? WHERE id = ?", now + wait, row.id);
    }
  }

  /** Those to whom this message is not acknowledged yet. */
  waiting(body: string): string[] {
    const rows = this.#sql.exec<{ device: string }>("SELECT device FROM outbox WHERE body = ?", body);
    return rows.toArray().map(({ device }) => device);
  }

  #nextDue(): number | undefined {
    const { due } = this.#sql.exec<{ due: number | null }>("SELECT MIN(due) AS due FROM outbox").one();
    return due ?? undefined;
  }
}
