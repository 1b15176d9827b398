/** Errors of transfers, worded for users. Programs go by `details.reason`. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";

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
  return toolError("CONFLICT", `${path} has a symbolic link in it, or is not written as the system does`, {
    hint: "Name the real path, as FileInfo gives it in `path`",
    details: { path, reason: "links" },
  });
}

/** `etag` is the file's own, if it has one. */
export function otherEtagError(shown: string, etag: string | undefined): MatrxError {
  return toolError("CONFLICT", `${shown} is not the version that the call names`, {
    hint: "Look at it again with FileInfo, then decide",
    details: { path: shown, reason: "etag", ...(etag && { etag }) },
  });
}

export function rangeError(shown: string, message: string, total?: number): MatrxError {
  return toolError("INVALID_PARAMETERS", `${shown}: ${message}`, {
    hint: total === undefined ? "Omit offset and length" : `It has ${total} bytes`,
    details: { path: shown, reason: "range", ...(total !== undefined && { total }) },
  });
}
