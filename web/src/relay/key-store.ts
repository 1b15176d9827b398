/** Keys that scripts can use and nobody can read, in the browser's database. The name of each says whose it is. */

const [DATABASE, TABLE] = ["matrx", "keys"];

/** `session`: of this browser's session; `sign-in`: of one that goes on at an issuer. */
type Name = "session" | "sign-in";

export async function get(name: Name): Promise<CryptoKeyPair | undefined> {
  return withKeys("readonly", (keys) => keys.get(name));
}

export async function put(name: Name, pair: CryptoKeyPair): Promise<void> {
  await withKeys("readwrite", (keys) => keys.put(pair, name));
}

export async function remove(name: Name): Promise<void> {
  await withKeys("readwrite", (keys) => keys.delete(name));
}

async function withKeys<T>(
  mode: IDBTransactionMode,
  use: (keys: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const database = await settled(opened());
  try {
    return await settled(use(database.transaction(TABLE, mode).objectStore(TABLE)));
  } finally {
    database.close();
  }
}

function opened(): IDBOpenDBRequest {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
  return request;
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () =>
      reject(new Error(`This browser could not open its session: ${request.error?.message}`));
  });
}
