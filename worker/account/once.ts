/** Things that count once or a few times: used sign-in links, wrong pairing codes. */

const WRONG_MAX = 5;
const WRONG_WITHIN = 10 * 60_000;

export class Once {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec("CREATE TABLE IF NOT EXISTS used (id TEXT PRIMARY KEY, expires INTEGER NOT NULL) WITHOUT ROWID");
    sql.exec("CREATE TABLE IF NOT EXISTS wrong (at INTEGER PRIMARY KEY)");
  }

  /** True the first time that an id is used. */
  use(id: string, expires: number): boolean {
    return (
      this.#sql.exec("INSERT OR IGNORE INTO used (id, expires) VALUES (?, ?)", id, expires).rowsWritten > 0
    );
  }

  noteWrongCode(now: number): void {
    this.#sql.exec("INSERT OR REPLACE INTO wrong (at) VALUES (?)", now);
  }

  /** Five wrong codes in ten minutes: no more guesses for now. */
  mayGuess(now: number): boolean {
    const { n } = this.#sql
      .exec<{ n: number }>("SELECT COUNT(*) AS n FROM wrong WHERE at > ?", now - WRONG_WITHIN)
      .one();
    return n < WRONG_MAX;
  }

  prune(now: number): void {
    this.#sql.exec("DELETE FROM used WHERE expires <= ?", now);
    this.#sql.exec("DELETE FROM wrong WHERE at <= ?", now - WRONG_WITHIN);
  }
}
