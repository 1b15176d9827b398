/** Errors of transfers, worded for users. Programs go by `details.reason`. */
import { MatrxError, toolError } from "@matrx/shared/errors.ts";
import { toolName } from "../text/tool-names.ts";

/** The tool was called without a stream to carry the bytes. */
export function needsStreamError(tool: string): MatrxError {
  return toolError("INVALID_PARAMETERS", `${tool} opens a stream of bytes, and this call brought none`, {
    hint: "Call it over a WebSocket, with `opens`",
    details: { reason: "needs_stream" },
  });
}

export function changedWhileSentError(shown: string): MatrxError {
  return toolError("CONFLICT", `${shown} changed while it was being sent`, {
    hint: "Discard what has arrived, and download it again",
    details: { path: shown, reason: "changed" },
  });
}

export function leadsElsewhereError(path: string): MatrxError {
  return toolError(
    "CONFLICT",
    `${path} is not a real path: it leads through a symbolic link, or is spelled differently on disk`,
    {
      hint: "Name the real path, as FileInfo gives it in `path`",
      details: { path, reason: "links" },
    },
  );
}

/** `etag` is the file's own, if it has one. */
export function otherEtagError(shown: string, etag: string | undefined): MatrxError {
  return toolError("CONFLICT", `${shown} is not the version that the call names`, {
    hint: "Look at it again with FileInfo, then decide",
    details: { path: shown, reason: "etag", ...(etag && { etag }) },
  });
}

/** `field` stands beside the conditions of an HTTP request, which say the same in their words. */
export function besideConditionsError(field: string): MatrxError {
  return toolError("INVALID_PARAMETERS", `${field}: can't be combined with conditions`, {
    hint: "Say it as a header in conditions: Range, If-Match",
    details: { field },
  });
}

export function rangeError(shown: string, message: string, total?: number): MatrxError {
  return toolError("INVALID_PARAMETERS", `${shown}: ${message}`, {
    hint: total === undefined ? "Omit offset and length" : `It has ${total} bytes`,
    details: { path: shown, reason: "range", ...(total !== undefined && { total }) },
  });
}

export function noUploadError(upload: string): MatrxError {
  return toolError("NOT_FOUND", `There is no upload ${upload}: it is finished, was removed, or has expired`, {
    hint: "Begin a new one with Upload",
    details: { upload, reason: "upload" },
  });
}

export function tooManyUploadsError(who: string, limit: number): MatrxError {
  return toolError("RATE_LIMITED", `${who} already has ${limit} unfinished uploads`, {
    hint: "Finish or remove some of them: UploadCommit, UploadAbort",
    details: { limit },
  });
}

export function busyUploadError(upload: string, offset?: number): MatrxError {
  return toolError("CONFLICT", "Another call is working on this upload", {
    hint: "Wait for it, then continue at the offset that UploadInfo gives",
    details: { upload, reason: "busy", ...(offset !== undefined && { offset }) },
  });
}

export function wrongOffsetError(upload: string, offset: number): MatrxError {
  return toolError("CONFLICT", `The upload continues at byte ${offset}`, {
    hint: "Send the bytes from there on",
    details: { upload, reason: "offset", offset },
  });
}

export function tooLongError(upload: string, size: number): MatrxError {
  return toolError("INVALID_PARAMETERS", `More bytes arrived than the ${size} that were announced`, {
    hint: "Remove the upload with UploadAbort, and begin again with the right size",
    details: { upload, reason: "size", size },
  });
}

export function incompleteError(upload: string, offset: number, size: number): MatrxError {
  return toolError("CONFLICT", `Only ${offset} of ${size} bytes have arrived`, {
    hint: "Send the rest, then commit",
    details: { upload, reason: "incomplete", offset, size },
  });
}

export function digestError(shown: string, expected: string, found: string): MatrxError {
  return toolError("CONFLICT", `The content has another SHA-256 than announced. ${shown} is as it was`, {
    hint: "Upload it again from the beginning",
    details: { path: shown, reason: "digest", expected, sha256: found },
  });
}

export function otherDigestError(upload: string): MatrxError {
  return toolError("CONFLICT", "The upload was begun for another SHA-256. Nothing was changed", {
    hint: "Commit with that one, or without any",
    details: { upload, reason: "other_digest" },
  });
}

export function targetMovedError(shown: string): MatrxError {
  return toolError("CONFLICT", `${shown} leads elsewhere than when the upload began. Nothing was changed`, {
    hint: "Remove the upload with UploadAbort, and begin again",
    details: { path: shown, reason: "moved" },
  });
}

/** The bytes of this piece are not what its checksum says; `offset` is where it began. */
export function checksumError(upload: string, offset: number): MatrxError {
  return toolError("CONFLICT", "The bytes have another checksum than announced. None of them was kept", {
    hint: `Send them again from byte ${offset}`,
    details: { upload, reason: "checksum", offset },
  });
}

/** `size` and `free` are in bytes. */
export function noRoomError(shown: string, size: number, free: number): MatrxError {
  return toolError(
    "TOOL_EXECUTION_FAILED",
    `There is no space left for ${shown}: ${free} of ${size} bytes are free`,
    {
      hint: `Free at least ${size - free} bytes, then begin again`,
      details: { path: shown, reason: "no_space", missing: size - free },
    },
  );
}

/** `missing` is how many bytes do not fit; undefined if that is not known. */
export function noSpaceError(shown: string, offset: number, missing: number | undefined): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `There is no space left for ${shown}`, {
    hint: `${freeing(missing)}, then continue at byte ${offset}: what arrived is kept`,
    details: { path: shown, reason: "no_space", offset, ...(missing !== undefined && { missing }) },
  });
}

function freeing(missing: unknown): string {
  return missing === undefined ? "Free some space" : `Free at least ${missing} bytes`;
}

/** Reasons whose hints say how an upload goes on. */
const GOES_ON: readonly unknown[] = ["no_space", "incomplete", "size", "offset", "moved", "checksum"];

/** The error of an upload that is over with it: nothing of it was kept. */
export function endedBy(error: unknown): unknown {
  if (!(error instanceof MatrxError)) return error;
  const shape = error.shape();
  const { offset: _, ...details } = shape.details ?? {};
  const { reason, missing } = details;
  if (!GOES_ON.includes(reason)) return error;
  const again = "send it again from the beginning: nothing of it was kept";
  const hint = reason === "no_space" ? `${freeing(missing)}, then ${again}` : `S${again.slice(1)}`;
  return new MatrxError({ ...shape, hint, details }, error);
}

/** The system makes its content when it is read. */
export function unsizedError(shown: string): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `${shown} has another length than the system says`, {
    hint: `Read it with ${toolName("Read")}, or copy it to an ordinary file first`,
    details: { path: shown, reason: "unsized" },
  });
}
