/** Counts what an object writes from now on, as the platform counts rows. */
export function countRows({ sql, kv }: Pick<DurableObjectStorage, "sql" | "kv">): { rows: number } {
  const count = { rows: 0 };
  const exec = sql.exec.bind(sql);
  sql.exec = ((query: string, ...bindings: unknown[]) => {
    const cursor = exec(query, ...bindings);
    count.rows += cursor.rowsWritten;
    return cursor;
  }) as typeof sql.exec;
  const put = kv.put.bind(kv);
  kv.put = ((key: string, value: unknown) => {
    count.rows++;
    put(key, value);
  }) as typeof kv.put;
  return count;
}
