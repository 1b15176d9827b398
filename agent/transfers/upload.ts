/** An unfinished upload: its record, the digest of what has arrived, and who is working on it. */
import { createHash, type Hash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { MatrxError } from "@matrx/shared/errors.ts";
import { stampOf } from "../core/approved-state.ts";
import { bytesFrom } from "../text/chunks.ts";
import { busyUploadError } from "./errors.ts";
import type { UploadRecord } from "./upload-record.ts";

export class Upload {
  record: UploadRecord;
  /** Of the part as it was when its state was `stamp`. */
  #digest: { readonly hash: Hash; readonly stamp: string } | undefined;
  #working: { readonly stop: AbortController; readonly ended: PromiseWithResolvers<void> } | undefined;

  constructor(record: UploadRecord) {
    this.record = record;
  }

  get id(): string {
    return this.record.id;
  }

  get isBusy(): boolean {
    return this.#working !== undefined;
  }

  /** Lets one call at a time work on it. The signal is aborted if it is removed meanwhile. Throws MatrxError `CONFLICT`. */
  claim(): Disposable & { readonly signal: AbortSignal } {
    if (this.#working) throw busyUploadError(this.id);
    const stop = new AbortController();
    const ended = Promise.withResolvers<void>();
    this.#working = { stop, ended };
    return {
      signal: stop.signal,
      [Symbol.dispose]: () => {
        this.#working = undefined;
        ended.resolve();
      },
    };
  }

  /** Stops the work on it; resolves when it has ended. */
  async stop(error: MatrxError): Promise<void> {
    this.#working?.stop.abort(error);
    await this.#working?.ended.promise;
  }

  /** The digest of the part so far, to be continued; undefined if it is not known. */
  digestAt(stat: BigIntStats): Hash | undefined {
    if (stat.size === 0n) return createHash("sha256");
    return this.#digest?.stamp === stampOf(stat) ? this.#digest.hash.copy() : undefined;
  }

  noteDigest(hash: Hash | undefined, stat: BigIntStats): void {
    this.#digest = hash && { hash, stamp: stampOf(stat) };
  }

  /** The SHA-256 of the part in hex: known from appending, or read from the file. */
  async sha256(part: FileHandle, signal: AbortSignal): Promise<string> {
    const stat = await part.stat({ bigint: true });
    const known = this.digestAt(stat);
    if (known) return known.digest("hex");
    const hash = createHash("sha256");
    for await (const piece of bytesFrom(part, 0, signal)) hash.update(piece);
    this.noteDigest(hash.copy(), await part.stat({ bigint: true }));
    return hash.digest("hex");
  }
}
