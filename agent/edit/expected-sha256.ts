/** Conditions on a file's present content. */
import { MatrxError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import type { Place } from "../fs/access.ts";

export const sha256Schema = z.string().regex(/^[0-9a-fA-F]{64}$/, "must be a SHA-256: 64 hexadecimal digits");

/** Throws MatrxError `CONFLICT` when a content is not the one that was expected; `found` undefined: there is none. */
export function checkSha256(found: string | undefined, expected: string | undefined, place: Place): void {
  if (expected === undefined || found === expected.toLowerCase()) return;
  throw new MatrxError({
    code: "CONFLICT",
    message: found
      ? `${place.shown} has changed: its SHA-256 is ${found}`
      : `${place.shown} does not exist, so it cannot have the expected content`,
    hint: "Read it again, then write",
    hop: "tool",
    details: { path: place.shown, ...(found && { sha256: found }) },
  });
}

/** `sha256`: of its content now; undefined: not known. */
export function changedSinceSeen(place: Place, sha256: string | undefined): MatrxError {
  return new MatrxError({
    code: "CONFLICT",
    message: `${place.shown} has changed since this session read or wrote it${sha256 ? `: its SHA-256 is now ${sha256}` : ""}. Nothing was written`,
    hint: "Read it again, then write; to replace it anyway, give its current SHA-256 as expected_sha256",
    hop: "tool",
    details: { path: place.shown, reason: "changed", ...(sha256 && { sha256 }) },
  });
}
