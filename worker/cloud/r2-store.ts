/** Cloud files in an R2 bucket. */
import type { CloudStore, StoredPart } from "./store.ts";

/** R2 takes at most 5 GiB at once; larger files, and those of unknown length, are sent in parts. */
const AT_ONCE_MAX = 4 * 1024 ** 3;
/** The least is 5 MiB; at most 10,000 parts make a file. One part is in memory at a time. */
const PART = 16 * 1024 * 1024;

export class R2Store implements CloudStore {
  readonly #bucket: R2Bucket;

  constructor(bucket: R2Bucket) {
    this.#bucket = bucket;
  }

  async put(key: string, bytes: ReadableStream<Uint8Array>, length: number | undefined): Promise<void> {
    if (length === undefined || length > AT_ONCE_MAX) return this.#putInParts(key, bytes);
    await this.#bucket.put(key, bytes);
  }

  async get(key: string, part?: StoredPart): Promise<ReadableStream<Uint8Array> | undefined> {
    const object = await this.#bucket.get(key, part && { range: part });
    return object?.body;
  }

  async delete(key: string): Promise<void> {
    await this.#bucket.delete(key);
  }

  /** R2 drops the parts of an upload that was never completed after a week. */
  async #putInParts(key: string, bytes: ReadableStream<Uint8Array>): Promise<void> {
    const upload = await this.#bucket.createMultipartUpload(key);
    const reader = bytes.getReader({ mode: "byob" });
    const parts: R2UploadedPart[] = [];
    try {
      for (;;) {
        const { value, done } = await reader.readAtLeast(PART, new Uint8Array(PART));
        const isEmpty = done || !value || value.length === 0;
        if (!isEmpty || parts.length === 0)
          parts.push(await upload.uploadPart(parts.length + 1, value ?? new Uint8Array()));
        if (isEmpty || value.length < PART) break;
      }
      await upload.complete(parts);
    } catch (error) {
      await upload.abort();
      throw error;
    }
  }
}
