/** Unfinished uploads of this machine. They outlive the agent, for a day. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { Platform } from "../platform/platform.ts";
import { noUploadError, tooManyUploadsError } from "./errors.ts";
import { removePart } from "./part-file.ts";
import { Upload } from "./upload.ts";
import { type UploadRecord, UploadRecords } from "./upload-record.ts";

/** Limits of uploads, with their units. */
export const UPLOAD_LIMITS = {
  /** Unfinished ones of one grant. */
  perGrant: 64,
  /** Unfinished ones of all grants. */
  perDevice: 512,
  /** Finished ones that are remembered, for callers who did not get the answer. */
  remembered: 256,
  /** How long one is kept after bytes last arrived, in milliseconds. */
  keptFor: 24 * 60 * 60 * 1000,
  /** The same for one that cannot be continued, and only waits for its commit. */
  keptForCommit: 10 * 60 * 1000,
  /** How long removing what has expired is tried, if its drive is not there, in milliseconds. */
  triedFor: 7 * 24 * 60 * 60 * 1000,
  /** How often expired ones are looked for, in milliseconds. */
  sweepEvery: 10 * 60 * 1000,
} as const;

export interface UploadsOptions {
  /** The folder of records; only one program may use it at a time. */
  readonly directory: string;
  readonly platform: Platform;
  readonly now?: () => number;
  /** Told when a record could not be written, or a part not removed. */
  readonly failed?: (error: unknown) => void;
}

/** An upload that is in place. */
export interface FinishedUpload {
  readonly record: UploadRecord;
  readonly bytes: number;
}

type Whose = Pick<GrantScope, "id" | "owner">;

export class Uploads {
  readonly #platform: Platform;
  readonly #records: UploadRecords;
  readonly #now: () => number;
  readonly #failed: (error: unknown) => void;
  readonly #uploads = new Map<string, Upload>();
  readonly #finished = new Map<string, FinishedUpload>();
  readonly #timer: NodeJS.Timeout;

  /** Finds the uploads of an earlier run. Throws MatrxError. */
  constructor({ directory, platform, now = Date.now, failed = () => undefined }: UploadsOptions) {
    this.#platform = platform;
    this.#records = new UploadRecords(directory);
    this.#now = now;
    this.#failed = failed;
    for (const record of this.#records.all()) {
      const expires = record.resumable ? record.expires : 0;
      this.#uploads.set(record.id, new Upload({ ...record, expires }));
    }
    this.#timer = setInterval(() => void this.sweep(), UPLOAD_LIMITS.sweepEvery).unref();
  }

  /** An upload of this grant; with `orOwner`, an owner finds those of all. Throws MatrxError `NOT_FOUND`. */
  find(id: string, grant: Whose, { orOwner = false } = {}): Upload {
    const upload = this.#uploads.get(id);
    const isTheirs = upload?.record.grant === String(grant.id) || (orOwner && grant.owner);
    if (!upload || !isTheirs || this.#hasExpired(upload)) throw noUploadError(id);
    return upload;
  }

  /** One of this grant that was finished lately, while this agent has run. */
  finishedBy(id: string, grant: Whose): FinishedUpload | undefined {
    const finished = this.#finished.get(id);
    return finished?.record.grant === String(grant.id) ? finished : undefined;
  }

  /** When an upload expires that gets bytes now, in milliseconds since 1970. */
  nextExpiry({ resumable }: Pick<UploadRecord, "resumable">): number {
    return this.#now() + (resumable ? UPLOAD_LIMITS.keptFor : UPLOAD_LIMITS.keptForCommit);
  }

  /** Bytes have arrived: it is kept for another day. If that cannot be recorded, it is so until the agent restarts. */
  keepLonger(upload: Upload): void {
    try {
      this.update(upload, { expires: this.nextExpiry(upload.record) });
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Throws MatrxError `RATE_LIMITED` if there are too many. */
  checkRoom(grant: Whose): void {
    const { perGrant, perDevice } = UPLOAD_LIMITS;
    const all = [...this.#uploads.values()].filter((upload) => !this.#hasExpired(upload));
    const theirs = all.filter(({ record }) => record.grant === String(grant.id));
    if (theirs.length >= perGrant) throw tooManyUploadsError("This caller", perGrant);
    if (all.length >= perDevice) throw tooManyUploadsError("This device", perDevice);
  }

  /** Keeps a new upload. Throws MatrxError, also if there are too many by now. */
  add(grant: Whose, record: UploadRecord): Upload {
    this.checkRoom(grant);
    this.#records.save(record);
    const upload = new Upload(record);
    this.#uploads.set(record.id, upload);
    return upload;
  }

  /** Throws MatrxError if the record cannot be written. */
  update(upload: Upload, changes: Partial<UploadRecord>): void {
    upload.record = { ...upload.record, ...changes };
    if (this.#uploads.get(upload.id) === upload) this.#records.save(upload.record);
  }

  /** An upload is in place: its part is gone. */
  finish(upload: Upload, bytes: number): void {
    this.forget(upload);
    this.#finished.set(upload.id, { record: upload.record, bytes });
    const [oldest] = this.#finished.keys();
    if (this.#finished.size > UPLOAD_LIMITS.remembered && oldest !== undefined) this.#finished.delete(oldest);
  }

  /** Forgets an upload whose part is gone. */
  forget(upload: Upload): void {
    this.#uploads.delete(upload.id);
    this.#records.remove(upload.id);
  }

  /** Stops the work on an upload, and removes it. Throws the system's error, or MatrxError `NOT_FOUND` if that work has just finished it. */
  async remove(upload: Upload): Promise<void> {
    await upload.stop(removedError(upload.id));
    if (this.#uploads.get(upload.id) !== upload) throw noUploadError(upload.id);
    await this.discard(upload);
  }

  /** Removes an upload that nobody else works on, with its part. Throws the system's error. */
  async discard(upload: Upload): Promise<void> {
    await removePart(this.#platform, upload.record);
    this.forget(upload);
  }

  /** The same for one that has failed anyway; if it can't be removed now, it expires. */
  async discardQuietly(upload: Upload): Promise<void> {
    await this.discard(upload).catch(this.#failed);
  }

  /** Removes what has expired. */
  async sweep(): Promise<void> {
    for (const upload of [...this.#uploads.values()].filter((one) => this.#hasExpired(one))) {
      try {
        await this.discard(upload);
      } catch (error) {
        this.#failed(error);
        // The next sweep tries again.
        if (upload.record.expires + UPLOAD_LIMITS.triedFor < this.#now()) this.forget(upload);
      }
    }
  }

  /** They are kept for the next run. */
  close(): void {
    clearInterval(this.#timer);
  }

  #hasExpired({ record, isBusy }: Upload): boolean {
    return !isBusy && record.expires <= this.#now();
  }
}

function removedError(id: string): MatrxError {
  return toolError("CANCELLED", `The upload ${id} was removed`, { hint: "Begin a new one with Upload" });
}
