/** Where the bytes of cloud files lie: a bucket on Cloudflare, a folder beside the embedded relay's objects. */

export interface CloudStore {
  /** Stores all bytes or nothing; rejects if they break off. `length`: in bytes, if it is known before. */
  put(key: string, bytes: ReadableStream<Uint8Array>, length: number | undefined): Promise<void>;
  /** The bytes, or `length` of them from `offset` on; undefined if there is nothing of this name. */
  get(key: string, part?: StoredPart): Promise<ReadableStream<Uint8Array> | undefined>;
  /** Does nothing if it is not there. */
  delete(key: string): Promise<void>;
}

export interface StoredPart {
  readonly offset: number;
  readonly length: number;
}
