/** The names and ids of an account's devices; everything else is in the Device objects. */
import type { DeviceId } from "@matrx/shared/ids.ts";

export interface DeviceEntry {
  id: DeviceId;
  name: string;
  created: number;
}

/** How long a removed device's id is kept, in milliseconds. */
const REMOVED_KEPT = 365 * 24 * 60 * 60_000;

export class Devices {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
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

  /** Returns false if there was none. The id is kept for a while, to distinguish a removed device from one whose data was lost. */
  remove(id: string, now: number): boolean {
    if (this.#sql.exec("DELETE FROM devices WHERE id = ?", id).rowsWritten === 0) return false;
    this.#sql.exec("DELETE FROM removed WHERE at < ?", now - REMOVED_KEPT);
    this.#sql.exec("INSERT OR REPLACE INTO removed (id, at) VALUES (?, ?)", id, now);
    return true;
  }

  /** When a device was removed, in milliseconds since 1970; undefined if it was not, or long ago. */
  removedAt(id: string): number | undefined {
    const [row] = this.#sql.exec<{ at: number }>("SELECT at FROM removed WHERE id = ?", id);
    return row?.at;
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
