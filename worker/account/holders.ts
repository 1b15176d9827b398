/** Which Device objects hold a copy of which grant, and the version that they confirmed. */
import type { GrantId } from "@matrx/shared/ids.ts";

export interface Holder {
  readonly device: string;
  /** The newest version that the device was leased, ... */
  readonly version: number;
  /** ... and that it confirmed to use. */
  readonly acknowledged: number;
}

export class Holders {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** A device asked for a grant. It counts as confirmed only if it held no older version, which the answer may not replace. */
  leased(id: GrantId, device: string, version: number): void {
    this.#sql.exec(
      `INSERT INTO leases (grant_id, device, version, acknowledged) VALUES (?1, ?2, ?3, ?3)
       ON CONFLICT DO UPDATE SET version = ?3 WHERE version < ?3`,
      ...[id, device, version],
    );
  }

  of(id: GrantId): Holder[] {
    const rows = this.#sql.exec<{ device: string; version: number; acknowledged: number }>(
      "SELECT device, version, acknowledged FROM leases WHERE grant_id = ? ORDER BY device",
      id,
    );
    return rows.toArray();
  }

  /** The grants that a device holds. */
  heldBy(device: string): GrantId[] {
    const rows = this.#sql.exec<{ grant_id: string }>("SELECT grant_id FROM leases WHERE device = ?", device);
    return rows.toArray().map(({ grant_id }) => grant_id as GrantId);
  }

  acknowledge(id: GrantId, device: string, version: number): void {
    this.#sql.exec(
      "UPDATE leases SET acknowledged = ?3 WHERE grant_id = ?1 AND device = ?2 AND acknowledged < ?3",
      ...[id, device, version],
    );
  }

  /** A device confirmed that it dropped a grant, unless it was leased a newer version since. */
  dropped(id: GrantId, device: string, version: number): void {
    this.#sql.exec(
      "DELETE FROM leases WHERE grant_id = ? AND device = ? AND version <= ?",
      ...[id, device, version],
    );
  }

  /** Forgets a grant. Returns the devices that held it. */
  remove(id: GrantId): string[] {
    const rows = this.#sql.exec<{ device: string }>(
      "DELETE FROM leases WHERE grant_id = ? RETURNING device",
      id,
    );
    return rows.toArray().map(({ device }) => device);
  }

  forgetDevice(device: string): void {
    this.#sql.exec("DELETE FROM leases WHERE device = ?", device);
  }

  /** Forgets grants that no longer exist. */
  prune(): void {
    this.#sql.exec("DELETE FROM leases WHERE grant_id NOT IN (SELECT id FROM grants)");
  }
}
