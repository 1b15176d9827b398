/** The rows of an account's files in the cloud store, and how they end. */
import { type CloudEnv, cloudStore } from "../cloud/open-store.ts";

/** One of which nothing was heard for so long was broken off, in milliseconds. */
export const ARRIVES_WITHIN = 10 * 60_000;

/** `size`: in bytes, as far as it is known; `heard`: of an arriving one, in milliseconds since 1970. */
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

/** Deletes what was removed, has expired, or stopped arriving; returns when to look again. Rejects if the store can't be reached. */
export async function dropCloudFiles(
  { sql, env, id: account }: { sql: SqlStorage; env: CloudEnv; id: string },
  now: number,
): Promise<number | undefined> {
  const over = "state = 'removed' OR expires <= ?1 OR (state = 'arriving' AND heard <= ?2)";
  const query = `SELECT id FROM cloud_files WHERE ${over}`;
  for (const { id } of sql.exec<{ id: string }>(query, now, now - ARRIVES_WITHIN).toArray()) {
    // First of all nobody may finish it any more.
    sql.exec("UPDATE cloud_files SET state = 'removed' WHERE id = ?", id);
    await cloudStore(env).delete(keyOf(account, id));
    sql.exec("DELETE FROM cloud_files WHERE id = ?", id);
  }
  const next =
    "SELECT MIN(CASE state WHEN 'arriving' THEN heard + ? ELSE expires END) AS at FROM cloud_files";
  return sql.exec<{ at: number | null }>(next, ARRIVES_WITHIN).one().at ?? undefined;
}

/** Where the bytes of a file lie in the store. */
export function keyOf(account: string, id: string): string {
  return `${account}/${id}`;
}
