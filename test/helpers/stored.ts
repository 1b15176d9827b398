/** What an embedded relay stored, for tests that damage it. */
import { readdirSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";

/** The databases of the objects of a class, such as `Device`. */
export function databasesOf(dataDir: string, className: string): string[] {
  const folder = join(dataDir, "objects", `relay-${className}`);
  const files = readdirSync(folder).filter((file) => /^[0-9a-f]{64}\.sqlite$/.test(file));
  return files.map((file) => join(folder, file));
}

/** The database of the only object of a class. */
export function databaseOf(dataDir: string, className: string): string {
  const [database, ...more] = databasesOf(dataDir, className);
  if (!database || more.length > 0) throw new Error(`not one ${className}: ${[database, ...more]}`);
  return database;
}

/** Keeps the first part of a database's log of writes, as a disk may that lost power. */
export function tearWal(database: string, share: number): void {
  const wal = `${database}-wal`;
  truncateSync(wal, Math.floor(statSync(wal).size * share));
}
