/** Whose account it is: the name that others see, and whether the relay's owner closed it. */
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";

interface ProfileRow extends Record<string, SqlStorageValue> {
  name: string | null;
  closed: number | null;
}

export class Profile {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Null if nobody named it yet. */
  get name(): string | null {
    return this.#row()?.name ?? null;
  }

  rename(name: string): void {
    this.#sql.exec("INSERT INTO profile (id, name) VALUES (1, ?1) ON CONFLICT DO UPDATE SET name = ?1", name);
  }

  /** From now on nobody signs in. The time of the first closing stays. */
  close(now: number): void {
    this.#sql.exec(
      "INSERT INTO profile (id, closed) VALUES (1, ?1) ON CONFLICT DO UPDATE SET closed = IFNULL(closed, ?1)",
      now,
    );
  }

  /** Throws MatrxError `PERMISSION_DENIED` if the account was closed. */
  requireOpen(): void {
    if (typeof this.#row()?.closed === "number") throw closedError();
  }

  #row(): ProfileRow | undefined {
    const [row] = this.#sql.exec<ProfileRow>("SELECT name, closed FROM profile");
    return row;
  }
}

function closedError(): MatrxError {
  return relayError("PERMISSION_DENIED", "The relay's owner closed this account", {
    hint: "Ask the owner for a new invite",
  });
}
