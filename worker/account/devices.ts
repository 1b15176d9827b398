/** The devices of one account: names and ids; all else lives in the Device objects. */
import type { DeviceId } from "@matrx/shared/ids.ts";

export interface DeviceEntry {
  id: DeviceId;
  name: string;
  created: number;
}

export class Devices {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS devices (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, created INTEGER NOT NULL) WITHOUT ROWID`);
  }

  add({ id, name, created }: DeviceEntry): void {
    this.#sql.exec("INSERT INTO devices (id, name, created) VALUES (?, ?, ?)", id, name, created);
  }

  has(id: string): boolean {
    return this.#sql.exec("SELECT 1 FROM devices WHERE id = ?", id).toArray().length > 0;
  }

  rename(id: string, name: string): void {
    this.#sql.exec("UPDATE devices SET name = ? WHERE id = ?", name, id);
  }

  /** False: there was none. */
  remove(id: string): boolean {
    return this.#sql.exec("DELETE FROM devices WHERE id = ?", id).rowsWritten > 0;
  }

  list(): DeviceEntry[] {
    const rows = this.#sql.exec<{ id: string; name: string; created: number }>(
      "SELECT * FROM devices ORDER BY created",
    );
    return rows.toArray().map(({ id, name, created }) => ({ id: id as DeviceId, name, created }));
  }

  count(): number {
    return this.#sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM devices").one().n;
  }
}
