/**
 * Refresh tokens that were replaced, by their hashes, for as long as their grant. For a minute each keeps the answer that
 * replaced it: programs that share a sign-in all get that one. It is sealed with the token itself (`refresh.ts`).
 */

export interface ReplacedToken {
  /** What it was traded for; null: too long ago. */
  answer: string | null;
  /** When, in milliseconds since 1970. */
  at: number;
}

/** How long a replaced token gives the same answer again, in milliseconds. */
export const SAME_ANSWER_MS = 60_000;
/** Of one grant; the oldest is forgotten, and so refused as unknown. */
const KEPT_MAX = 2000;

export class ReplacedTokens {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  find(token: string, now: number): ReplacedToken | undefined {
    const [row] = this.#sql.exec<{ answer: string | null; at: number }>(
      "SELECT answer, at FROM replaced WHERE token = ?",
      token,
    );
    return row && { at: row.at, answer: row.at + SAME_ANSWER_MS > now ? row.answer : null };
  }

  add(token: string, grantKey: string, answer: string, now: number): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO replaced (token, grant_key, at, answer) VALUES (?, ?, ?, ?)",
      ...[token, grantKey, now, answer],
    );
    this.#sql.exec(
      "DELETE FROM replaced WHERE token IN (SELECT token FROM replaced WHERE grant_key = ? ORDER BY at DESC LIMIT -1 OFFSET ?)",
      ...[grantKey, KEPT_MAX],
    );
  }

  /** The grant is over. */
  forget(grantKey: string): void {
    this.#sql.exec("DELETE FROM replaced WHERE grant_key = ?", grantKey);
  }

  /** Deletes answers that are no longer given; returns when the next one is due. */
  dropAnswers(now: number): number | undefined {
    const old = now - SAME_ANSWER_MS;
    this.#sql.exec("UPDATE replaced SET answer = NULL WHERE answer IS NOT NULL AND at <= ?", old);
    const { first } = this.#sql
      .exec<{ first: number | null }>("SELECT MIN(at) AS first FROM replaced WHERE answer IS NOT NULL")
      .one();
    return first === null ? undefined : first + SAME_ANSWER_MS;
  }
}
