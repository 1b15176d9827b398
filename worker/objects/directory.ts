/**
 * Which account a device belongs to: one object per first character of an id's random part (docs/decisions/0001). One more
 * object knows which accounts there are.
 */
import { DurableObject } from "cloudflare:workers";
import type { AccountId, DeviceId } from "@matrx/shared/ids.ts";
import { migrate } from "../storage/migrate.ts";
import { DIRECTORY } from "../storage/migrations.ts";

export class Directory extends DurableObject {
  constructor(state: DurableObjectState, env: unknown) {
    super(state, env as never);
    migrate(state.storage, DIRECTORY);
  }

  /** Registers a new id. Returns false if it is taken. */
  add(device: DeviceId, account: AccountId): boolean {
    const { rowsWritten } = this.ctx.storage.sql.exec(
      "INSERT OR IGNORE INTO devices (device, account) VALUES (?, ?)",
      device,
      account,
    );
    return rowsWritten > 0;
  }

  remove(device: DeviceId): void {
    this.ctx.storage.sql.exec("DELETE FROM devices WHERE device = ?", device);
  }

  accountOf(device: DeviceId): AccountId | undefined {
    const [row] = this.ctx.storage.sql.exec<{ account: string }>(
      "SELECT account FROM devices WHERE device = ?",
      device,
    );
    return row?.account as AccountId | undefined;
  }

  /** Notes that somebody signed in to this account. */
  addAccount(account: AccountId): void {
    this.ctx.storage.sql.exec("INSERT OR IGNORE INTO accounts (account) VALUES (?)", account);
  }

  hasAccount(account: AccountId): boolean {
    const rows = this.ctx.storage.sql.exec("SELECT 1 FROM accounts WHERE account = ?", account);
    return rows.toArray().length > 0;
  }
}

/** The directory object that knows the accounts. */
export function accountDirectory(
  directories: DurableObjectNamespace<Directory>,
): DurableObjectStub<Directory> {
  return directories.getByName("accounts");
}

/** The directory object that is responsible for a device. */
export function directoryOf(
  directories: DurableObjectNamespace<Directory>,
  device: DeviceId,
): DurableObjectStub<Directory> {
  return directories.getByName(device.charAt(device.length - 10));
}
