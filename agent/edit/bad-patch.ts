/** What is said of a patch that cannot be read. */
import { MatrxError } from "@matrx/shared/errors.ts";

export const BEGIN = "*** Begin Patch";
export const END = "*** End Patch";

/** `line` is counted from 1. */
export function badPatch(why: string, line?: number): MatrxError {
  return new MatrxError({
    code: "INVALID_PARAMETERS",
    message: `patch${line === undefined ? "" : `, line ${line}`}: ${why}`,
    hint: `Send a unified diff, or lines between "${BEGIN}" and "${END}" with "*** Update File: PATH", "*** Add File: PATH" or "*** Delete File: PATH"`,
    hop: "tool",
    details: { field: "patch", ...(line !== undefined && { line }) },
  });
}
