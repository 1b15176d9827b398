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
