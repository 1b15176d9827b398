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
  /** How long one is kept after bytes last arrived, in milliseconds. */
  keptFor: 24 * 60 * 60 * 1000,
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
  /** Told when the part of an upload could not be removed. */
  readonly failed?: (error: unknown) => void;
}

type Whose = Pick<GrantScope, "id" | "owner">;

export class Uploads {
  readonly #platform: Platform;
  readonly #records: UploadRecords;
  readonly #now: () => number;
  readonly #failed: (error: unknown) => void;
  readonly #uploads = new Map<string, Upload>();
  readonly #timer: NodeJS.Timeout;

  /** Finds the uploads of an earlier run. Throws MatrxError. */
  constructor({ directory, platform, now = Date.now, failed = () => undefined }: UploadsOptions) {
    this.#platform = platform;
    this.#records = new UploadRecords(directory);
    this.#now = now;
    this.#failed = failed;
    for (const record of this.#records.all()) this.#uploads.set(record.id, new Upload(record));
    this.#timer = setInterval(() => void this.sweep(), UPLOAD_LIMITS.sweepEvery).unref();
  }

  /** An upload of this grant; with `orOwner`, an owner finds those of all. Throws MatrxError `NOT_FOUND`. */
  find(id: string, grant: Whose, { orOwner = false } = {}): Upload {
    const upload = this.#uploads.get(id);
    const isTheirs = upload?.record.grant === String(grant.id) || (orOwner && grant.owner);
    if (!upload || !isTheirs || this.#hasExpired(upload)) throw noUploadError(id);
    return upload;
  }

  /** When an upload expires that gets bytes now, in milliseconds since 1970. */
  nextExpiry(): number {
    return this.#now() + UPLOAD_LIMITS.keptFor;
  }

  /** Throws MatrxError `RATE_LIMITED` if the grant has too many. */
  checkRoom(grant: Whose): void {
    const theirs = [...this.#uploads.values()].filter((upload) => upload.record.grant === String(grant.id));
    if (theirs.filter((upload) => !this.#hasExpired(upload)).length < UPLOAD_LIMITS.perGrant) return;
    throw tooManyUploadsError(UPLOAD_LIMITS.perGrant);
  }

  /** Keeps a new upload. Throws MatrxError. */
  add(record: UploadRecord): Upload {
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

  /** Forgets a finished upload, whose part is gone. */
  forget(upload: Upload): void {
    this.#uploads.delete(upload.id);
    this.#records.remove(upload.id);
  }

  /** Removes an upload with its part, and ends the work on it. Throws the system's error. */
  async remove(upload: Upload): Promise<void> {
    upload.stop(removedError(upload.id));
    await removePart(this.#platform, upload.record);
    this.forget(upload);
  }

  /** Ends the work for a grant that was revoked or paused; what has arrived stays until it expires. */
  endGrant(grant: string): void {
    for (const upload of this.#uploads.values())
      if (upload.record.grant === grant) upload.stop(grantEndedError());
  }

  /** Removes what has expired. */
  async sweep(): Promise<void> {
    for (const upload of [...this.#uploads.values()].filter((one) => this.#hasExpired(one))) {
      try {
        await this.remove(upload);
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

function grantEndedError(): MatrxError {
  return toolError("CANCELLED", "The caller's grant has ended, or was paused", {
    hint: "What has arrived is kept for a day",
  });
}
