/** Where the bytes of cloud files lie: a bucket on Cloudflare, a folder beside the embedded relay's objects. */
import { relayError } from "@matrx/shared/errors.ts";
import { DiskStore } from "./disk-store.ts";
import { R2Store } from "./r2-store.ts";

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

export interface CloudEnv {
  /** On Cloudflare. */
  CLOUD_BUCKET?: R2Bucket;
  /** In the embedded relay: a writable disk service. */
  CLOUD_DISK?: Fetcher;
  /** What each account may keep, in bytes; 10 GiB without it. */
  CLOUD_BYTES?: string;
}

/** Throws MatrxError `UNAVAILABLE` if the relay has none. */
export function cloudStore({ CLOUD_BUCKET, CLOUD_DISK }: CloudEnv): CloudStore {
  if (CLOUD_BUCKET) return new R2Store(CLOUD_BUCKET);
  if (CLOUD_DISK) return new DiskStore(CLOUD_DISK);
  throw relayError("UNAVAILABLE", "This relay has no cloud store", {
    hint: "Whoever runs it can give it an R2 bucket, as the guide to deploying says",
  });
}
