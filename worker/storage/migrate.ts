/**
 * Migrates an object's stored data to this program's version. The version is one of the object's keys, because Durable
 * Objects do not allow `PRAGMA user_version`; it counts the migrations that have run (docs/storage.md).
 */
import { newerDataError } from "../storage-failure.ts";

type MigratedStorage = Pick<DurableObjectStorage, "sql" | "kv" | "transactionSync">;

/** A step from one version to the next. Once released, it never changes. */
export type Migration = (storage: Pick<MigratedStorage, "sql" | "kv">) => void;

const VERSION = "schema_version";

/**
 * Runs the missing migrations in order, each in a transaction. If there are none, it reads one row and writes nothing.
 * Throws before it touches anything if a newer program wrote the data. After `deleteAll` it must run again before
 * anything is written.
 */
export function migrate(storage: MigratedStorage, migrations: readonly Migration[]): void {
  const version = storage.kv.get<number>(VERSION) ?? 0;
  if (version > migrations.length) throw newerDataError(version, migrations.length);
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    storage.transactionSync(() => {
      migration(storage);
      storage.kv.put(VERSION, index + 1);
    });
  }
}
