/** The rows of an account's files in the cloud store, and how they end. */
import { type CloudEnv, cloudStore } from "../cloud/open-store.ts";

/** One of which nothing was heard for so long was broken off, in milliseconds. */
export const ARRIVES_WITHIN = 10 * 60_000;

/**
 * `size`: in bytes, as far as it is known; `heard`: when bytes last arrived, in milliseconds since 1970; 0 once its transfer
 * is over.
 */
export interface CloudFileRow extends Record<string, SqlStorageValue> {
  id: string;
  state: "arriving" | "stored" | "removed";
  size: number | null;
  arrived: number;
  sha256: string | null;
  heard: number;
  created: number;
  expires: number;
  facts: string;
}

/**
 * Deletes what was removed, has expired, or stopped arriving; returns when to look again. Rejects if the store can't be
 * reached. A transfer whose file was removed may still store its bytes: they are deleted when it is over.
 */
export async function dropCloudFiles(
  { sql, env, id: account }: { sql: SqlStorage; env: CloudEnv; id: string },
  now: number,
): Promise<number | undefined> {
  const silentSince = now - ARRIVES_WITHIN;
  // First of all nobody may finish it any more.
  const over = "expires <= ? OR (state = 'arriving' AND heard <= ?)";
  sql.exec(`UPDATE cloud_files SET state = 'removed' WHERE ${over}`, now, silentSince);
  const settled = "SELECT id FROM cloud_files WHERE state = 'removed' AND (sha256 IS NOT NULL OR heard <= ?)";
  for (const { id } of sql.exec<{ id: string }>(settled, silentSince).toArray()) {
    await cloudStore(env).delete(keyOf(account, id));
    sql.exec("DELETE FROM cloud_files WHERE id = ?", id);
  }
  const next = "SELECT MIN(CASE state WHEN 'stored' THEN expires ELSE heard + ? END) AS at FROM cloud_files";
  return sql.exec<{ at: number | null }>(next, ARRIVES_WITHIN).one().at ?? undefined;
}

/** Where the bytes of a file lie in the store. */
export function keyOf(account: string, id: string): string {
  return `${account}/${id}`;
}
