/** The place where an upload will be: checked when it begins, at each step, and once more when it is put there. */
import { type BigIntStats, constants } from "node:fs";
import { access as askRight, type FileHandle } from "node:fs/promises";
import { type ApprovedState, changedSinceApprovedError, stampOf } from "../core/approved-state.ts";
import type { Needs } from "../core/gate.ts";
import type { FileAccess } from "../fs/access.ts";
import { explained } from "../fs/errors.ts";
import { OpenedFile } from "../fs/file-handle.ts";
import { existsError } from "../fs/transaction.ts";
import type { Digests } from "./digests.ts";
import { noUploadError, otherEtagError, targetMovedError } from "./errors.ts";
import { openPart } from "./part-file.ts";
import type { Upload } from "./upload.ts";
import type { UploadRecord } from "./upload-record.ts";
import type { Uploads } from "./uploads.ts";

/** What a step of an upload needs that adds to it: what beginning it needed, with the rights of now. */
export function needsOfStep({ record }: Upload, does: string): Needs {
  return {
    paths: [{ path: record.path, intent: "write" }],
    tools: [{ tool: "Upload", does }],
    isApproved: record.approved !== undefined,
  };
}

/** Remembers that a person allowed a step, under a rule made after the upload began: the next ones are not asked about. Throws MatrxError. */
export async function rememberApproval(
  uploads: Uploads,
  access: FileAccess,
  upload: Upload,
  approved: ApprovedState,
): Promise<void> {
  const { record } = upload;
  await using file = await openUploadTarget(access, record);
  const stat = await file.entry();
  approved.check(record.path, record.shown, stat);
  uploads.update(upload, { approved: { stamp: stat ? stampOf(stat) : null } });
}

/** Opens the folder of an upload's target. Close it. Throws MatrxError, also if the path leads elsewhere by now. */
export async function openUploadTarget(access: FileAccess, record: UploadRecord): Promise<OpenedFile> {
  const place = await access.find(record.path, "write");
  if (place.path !== record.path || place.missing.length > 1) throw targetMovedError(record.shown);
  return await OpenedFile.open(access, { ...place, shown: record.shown });
}

/** Opens what has arrived. Close it. Throws MatrxError `NOT_FOUND` if it is gone. */
export async function openArrived(file: OpenedFile, { record }: Upload): Promise<FileHandle> {
  const part = await explained(record.shown, "continue", () => openPart(file.parent, record));
  if (!part) throw noUploadError(record.id);
  return part;
}

/** The file that the upload would replace, if it may; undefined if nothing is there. Throws MatrxError. */
export async function checkTarget(
  file: OpenedFile,
  { overwrite, if_etag }: Pick<UploadRecord, "overwrite" | "if_etag">,
  digests: Digests,
  signal: AbortSignal,
): Promise<BigIntStats | undefined> {
  const { place } = file;
  const stat = await file.entry();
  if (stat && !overwrite) throw existsError(place);
  // A read-only file must not be replaced either, even if its folder would allow it.
  if (stat) await explained(place.shown, "write", () => askRight(file.path, constants.W_OK));
  if (if_etag === undefined) return stat;
  const found =
    stat && (await file.whileOpen(stat, (handle) => digests.validatorsOf({ handle, stat }, signal)));
  if (found?.etag !== if_etag) throw otherEtagError(place.shown, found?.etag);
  return stat;
}

/** Throws MatrxError `CONFLICT` if the target is not as it was when a person allowed to replace it. */
export function checkAsApproved({ approved, shown }: UploadRecord, stat: BigIntStats | undefined): void {
  if (approved && approved.stamp !== (stat ? stampOf(stat) : null)) throw changedSinceApprovedError([shown]);
}
