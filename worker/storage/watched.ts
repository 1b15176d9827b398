/** Wraps an object's storage to report each write. */

export type Sql = Pick<SqlStorage, "exec">;
export type Kv = Pick<SyncKvStorage, "get" | "put" | "delete" | "list">;

export interface Storage {
  readonly sql: Sql;
  readonly kv: Kv;
  getAlarm(): Promise<number | null>;
  setAlarm(at: number): Promise<void>;
}

export function watched(
  storage: Pick<DurableObjectStorage, "sql" | "kv" | "getAlarm" | "setAlarm">,
  onWrite: () => void,
): Storage {
  const { sql, kv } = storage;
  return {
    getAlarm: () => storage.getAlarm(),
    setAlarm(at) {
      const setting = storage.setAlarm(at);
      onWrite();
      return setting;
    },
    sql: {
      exec(query, ...bindings) {
        const cursor = sql.exec(query, ...bindings);
        if (cursor.rowsWritten > 0) onWrite();
        return cursor as never;
      },
    },
    kv: {
      get: (key) => kv.get(key),
      list: (options) => kv.list(options) as never,
      put(key, value) {
        kv.put(key, value);
        onWrite();
      },
      delete(key) {
        const deleted = kv.delete(key);
        if (deleted) onWrite();
        return deleted;
      },
    },
  };
}
