/** Finds the store that this relay has. */
import { relayError } from "@matrx/shared/errors.ts";
import { DiskStore } from "./disk-store.ts";
import { R2Store } from "./r2-store.ts";
import type { CloudStore } from "./store.ts";

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
