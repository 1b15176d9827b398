/** Reads a patch in either of two formats: `*** Begin Patch`, or a unified diff as diff and git write it. */
import { BEGIN, badPatch } from "./bad-patch.ts";
import { withPlainEnds } from "./line-ends.ts";
import { readMarkedPatch } from "./marked-patch.ts";
import type { FilePatch } from "./patch.ts";
import { readUnifiedDiff } from "./unified-diff.ts";

/** Throws MatrxError `INVALID_PARAMETERS`. */
export function parsePatch(patch: string): FilePatch[] {
  if (!patch.isWellFormed()) throw badPatch("it holds half of a character");
  const plain = withPlainEnds(patch);
  const files = plain.trimStart().startsWith(BEGIN) ? readMarkedPatch(plain) : readUnifiedDiff(plain);
  if (files.length === 0) throw badPatch("there is no change in it");
  return files;
}
