/** Keys that scripts can use and nobody can read, in the browser's database. The name of each says whose it is. */

const [DATABASE, TABLE] = ["matrx", "keys"];

/** `session`: of this browser's session; `sign-in`: of one that goes on at an issuer. */
type Name = "session" | "sign-in";

/** Of browsers that keep nothing for this page: the session then ends with it. */
const unkept = new Map<Name, CryptoKeyPair>();

export async function get(name: Name): Promise<CryptoKeyPair | undefined> {
  const read = (): Promise<unknown> => withKeys("readonly", (keys) => keys.get(name));
  // A browser may lose its database for a moment: nobody is signed out by that.
  const kept = await read()
    .catch(read)
    .catch(() => undefined);
  // What could not be kept is newer than what was.
  return unkept.get(name) ?? (isPair(kept) ? kept : undefined);
}

export async function put(name: Name, pair: CryptoKeyPair): Promise<void> {
  unkept.delete(name);
  await withKeys("readwrite", (keys) => keys.put(pair, name)).catch(() => unkept.set(name, pair));
}

export async function remove(name: Name): Promise<void> {
  unkept.delete(name);
  await withKeys("readwrite", (keys) => keys.delete(name)).catch(() => undefined);
}

/** What was kept may be damaged, or of another release. */
function isPair(kept: unknown): kept is CryptoKeyPair {
  return (
    typeof kept === "object" &&
    kept !== null &&
    "privateKey" in kept &&
    "publicKey" in kept &&
    kept.privateKey instanceof CryptoKey &&
    kept.publicKey instanceof CryptoKey
  );
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
