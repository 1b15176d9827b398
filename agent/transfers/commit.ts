/** Finishes an upload: checks everything again, then puts the part under the target's name in one step. */
import type { BigIntStats } from "node:fs";
import { type FileHandle, rename, unlink } from "node:fs/promises";
import type { FileAccess } from "../fs/access.ts";
import { explained, hasCode } from "../fs/errors.ts";
import type { OpenedFile } from "../fs/file-handle.ts";
import { identityOf } from "../fs/file-index.ts";
import { secondsOfDate } from "../fs/file-time.ts";
import { syncFolder } from "../fs/make-folders.ts";
import { renameNoReplace } from "../fs/rename.ts";
import { existsError } from "../fs/transaction.ts";
import { type Content, keepOwner, type Written } from "../fs/write-file.ts";
import type { Platform } from "../platform/platform.ts";
import { bytesFrom } from "../text/chunks.ts";
import type { Digests } from "./digests.ts";
import { digestError, endedBy, incompleteError, tooLongError } from "./errors.ts";
import { mayReplace, partNameOf } from "./part-file.ts";
import type { Upload } from "./upload.ts";
import type { UploadRecord } from "./upload-record.ts";
import { checkAsApproved, checkTarget, openArrived, openUploadTarget } from "./upload-target.ts";
import type { Uploads } from "./uploads.ts";

export interface Committing {
  readonly uploads: Uploads;
  readonly access: FileAccess;
  readonly digests: Digests;
  readonly signal: AbortSignal;
}

export interface Committed extends Written {
  readonly sha256: string;
  readonly bytes: number;
}

/** `wanted` is a SHA-256. Throws MatrxError; the target is then as it was, and the part kept unless its digest is wrong. */
export async function commitUpload(
  upload: Upload,
  wanted: string | undefined,
  { uploads, access, digests, signal }: Committing,
): Promise<Committed> {
  using claim = upload.claim();
  const stop = AbortSignal.any([signal, claim.signal]);
  try {
    return await commit(upload, wanted, { uploads, access, digests, signal: stop });
  } catch (error) {
    if (upload.record.resumable) throw error;
    await uploads.discardQuietly(upload);
    throw endedBy(error);
  }
}

async function commit(
  upload: Upload,
  wanted: string | undefined,
  { uploads, access, digests, signal: stop }: Committing,
): Promise<Committed> {
  const { record } = upload;
  await using file = await openUploadTarget(access, record);
  await using part = await openArrived(file, upload);
  const bytes = checkSize((await part.stat()).size, record);
  const sha256 = await explained(record.shown, "read what arrived for", () => upload.sha256(part, stop));
  if (wanted !== undefined && wanted !== sha256) {
    await explained(record.shown, "remove what arrived for", () => uploads.discard(upload));
    throw digestError(record.shown, wanted, sha256);
  }
  const old = await checkTarget(file, record, digests, stop);
  checkAsApproved(record, old);
  stop.throwIfAborted();
  const written = await put(file, part, old, record, { platform: access.platform, signal: stop });
  uploads.finish(upload, bytes);
  return { ...written, sha256, bytes };
}

/** Throws MatrxError unless all has arrived that was announced. */
function checkSize(arrived: number, { id, size = arrived }: UploadRecord): number {
  if (arrived < size) throw incompleteError(id, arrived, size);
  if (arrived > size) throw tooLongError(id, size);
  return arrived;
}

async function put(
  file: OpenedFile,
  part: FileHandle,
  old: BigIntStats | undefined,
  record: UploadRecord,
  { platform, signal }: { platform: Platform; signal: AbortSignal },
): Promise<Written> {
  const { parent, place } = file;
  if (!old || isSuccessor(old, record)) {
    try {
      return await explained(place.shown, "write", () => moveIntoPlace(file, part, old, record, platform));
    } catch (error) {
      // As with any write: the system may let a file be changed, but not replaced.
      const mayBeFilled = old && record.in_place;
      if (!(mayBeFilled && error instanceof Error && hasCode(error.cause, "EACCES", "EPERM", "EBUSY")))
        throw error;
    }
  }
  const content = contentOf(part, record);
  // Another file came meanwhile, whose attributes the part does not have.
  const written = record.in_place
    ? await file.fill(old, content, signal)
    : await file.replace(old, content, signal);
  await unlink(parent.at(partNameOf(record.id))).catch(() => undefined);
  return written;
}

/** The part has the attributes of the file that it replaces only if that is still the same one. */
function isSuccessor(old: BigIntStats, record: UploadRecord): boolean {
  return record.successor_of === identityOf(old) && mayReplace(old);
}

/** If it fails, the part is as it was: nobody else's, and for nobody else. Throws the system's error, or MatrxError. */
async function moveIntoPlace(
  file: OpenedFile,
  part: FileHandle,
  old: BigIntStats | undefined,
  record: UploadRecord,
  platform: Platform,
): Promise<Written> {
  const before = await part.stat({ bigint: true });
  try {
    if (old) await keepOwner(part, old);
    else await part.chmod(record.mode);
    const { modified } = record;
    if (modified !== undefined) {
      const changed = secondsOfDate(new Date(modified));
      await part.utimes(changed, changed);
    }
    await part.sync();
    await file.confirm(old);
    await renamePart(file, part, old, record, platform);
  } catch (error) {
    await keepOwner(part, before).catch(() => undefined);
    throw error;
  }
  await syncFolder(file.parent.self);
  return { created: !old, atomic: true, stat: await part.stat({ bigint: true }) };
}

async function renamePart(
  file: OpenedFile,
  part: FileHandle,
  old: BigIntStats | undefined,
  { id }: UploadRecord,
  platform: Platform,
): Promise<void> {
  const { parent, place } = file;
  const name = partNameOf(id);
  const stat = await part.stat({ bigint: true });
  await parent.confirm(name, stat);
  const target = file.asEntry(stat);
  if (old) {
    await rename(parent.at(name), file.path);
    return await parent.confirm(target.name, stat);
  }
  await renameNoReplace({ ...target, name }, target, platform).catch((error: unknown) => {
    throw hasCode(error, "EEXIST") ? existsError(place) : error;
  });
}

/** Where the file must stay the same one: what arrived, to be copied into it. */
function contentOf(part: FileHandle, { modified }: UploadRecord): Content {
  return {
    modified: modified === undefined ? undefined : new Date(modified),
    async writeTo(handle, signal = new AbortController().signal) {
      let position = 0;
      for await (const piece of bytesFrom(part, 0, signal)) {
        for (let done = 0; done < piece.length; ) {
          done += (await handle.write(piece, done, piece.length - done, position + done)).bytesWritten;
        }
        position += piece.length;
      }
      return position;
    },
  };
}
