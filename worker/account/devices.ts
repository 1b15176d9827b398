/** The names, ids and tags of an account's devices; everything else is in the Device objects. */
import type { DeviceId } from "@matrx/shared/ids.ts";

export interface DeviceEntry {
  id: DeviceId;
  name: string;
  created: number;
  tags: string[];
}

interface DeviceRow extends Record<string, SqlStorageValue> {
  id: string;
  name: string;
  created: number;
  /** JSON. */
  tags: string;
}

/** How long a removed device's id is kept, in milliseconds. */
const REMOVED_KEPT = 365 * 24 * 60 * 60_000;

export class Devices {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  add({ id, name, created, tags }: DeviceEntry): void {
    this.#sql.exec(
      "INSERT INTO devices (id, name, created, tags) VALUES (?, ?, ?, ?)",
      ...[id, name, created, JSON.stringify(tags)],
    );
  }

  has(id: string): boolean {
    return this.#sql.exec("SELECT 1 FROM devices WHERE id = ?", id).toArray().length > 0;
  }

  find(id: string): DeviceEntry | undefined {
    const [row] = this.#sql.exec<DeviceRow>("SELECT * FROM devices WHERE id = ?", id);
    return row && entryOf(row);
  }

  /** Replaces the name and tags. */
  update({ id, name, tags }: DeviceEntry): void {
    this.#sql.exec("UPDATE devices SET name = ?, tags = ? WHERE id = ?", name, JSON.stringify(tags), id);
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
    return this.#sql.exec<DeviceRow>("SELECT * FROM devices ORDER BY created").toArray().map(entryOf);
  }

  count(): number {
    return this.#sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM devices").one().n;
  }
}

function entryOf({ id, name, created, tags }: DeviceRow): DeviceEntry {
  return { id: id as DeviceId, name, created, tags: JSON.parse(tags) as string[] };
}
