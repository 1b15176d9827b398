/** What a machine's refusals about files mean for the page. */
import { ApiError } from "../../relay/api-error.ts";

/** A file is where a folder was looked for. */
export function isNotFolder(error: unknown): boolean {
  return error instanceof ApiError && error.hop === "tool" && / is not a directory$/.test(error.message);
}

/** Something else is there, or it is no longer what it was. */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && (error.code === "CONFLICT" || error.status === 412);
}

/** The machine did not say anything: the next question would fail the same way. */
export function isNoAnswer(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return [0, 401, 502, 503, 504].includes(error.status) || error.code === "DEVICE_OFFLINE";
}

/** The relay takes it later; nothing has run. */
export function isTooFast(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === "RATE_LIMITED" && error.hop === "relay";
}
