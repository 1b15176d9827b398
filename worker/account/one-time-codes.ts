/** What works only once, a few times, or not any more: used and ended sign-in links, guesses at pairing codes. */

const GUESSES_MAX = 5;
const GUESSES_WITHIN = 10 * 60_000;
/** When sign-in links were last made worthless, in milliseconds since 1970. */
const LINKS_ENDED = "links_ended";

export class OneTimeCodes {
  readonly #sql: SqlStorage;
  readonly #kv: SyncKvStorage;

  constructor({ sql, kv }: Pick<DurableObjectStorage, "sql" | "kv">) {
    this.#sql = sql;
    this.#kv = kv;
  }

  /** Returns true the first time an id is used. */
  use(id: string, expires: number): boolean {
    return (
      this.#sql.exec("INSERT OR IGNORE INTO used (id, expires) VALUES (?, ?)", id, expires).rowsWritten > 0
    );
  }

  /** Makes every sign-in link worthless that was made before. */
  endLinks(now: number): void {
    this.#kv.put(LINKS_ENDED, now);
  }

  /** Whether a sign-in link was made worthless since it was made. */
  isLinkEnded(made: number): boolean {
    return made < (this.#kv.get<number>(LINKS_ENDED) ?? 0);
  }

  /** Takes one of five guesses in ten minutes, before it is checked. Returns undefined if none is left. */
  takeGuess(now: number): number | undefined {
    const since = now - GUESSES_WITHIN;
    const [row] = this.#sql.exec<{ id: number }>(
      "INSERT INTO guesses (at) SELECT ?1 WHERE (SELECT COUNT(*) FROM guesses WHERE at > ?2 AND at <= ?1) < ?3 RETURNING id",
      ...[now, since, GUESSES_MAX],
    );
    return row?.id;
  }

  /** Milliseconds until one more guess is allowed. */
  guessWait(now: number): number {
    const { oldest } = this.#sql
      .exec<{ oldest: number | null }>(
        "SELECT MIN(at) AS oldest FROM guesses WHERE at > ? AND at <= ?",
        ...[now - GUESSES_WITHIN, now],
      )
      .one();
    return oldest === null ? 0 : oldest + GUESSES_WITHIN - now;
  }

  /** The guess was correct, so it does not count. */
  giveBackGuess(id: number): void {
    this.#sql.exec("DELETE FROM guesses WHERE id = ?", id);
  }

  prune(now: number): void {
    this.#sql.exec("DELETE FROM used WHERE expires <= ?", now);
    this.#sql.exec("DELETE FROM guesses WHERE at <= ?", now - GUESSES_WITHIN);
  }
}
