/** From what a patch says to the bytes that each file will have; nothing is changed here. */
import { hash } from "node:crypto";
import type { MatrxError } from "@matrx/shared/errors.ts";
import type { Place } from "../fs/access.ts";
import type { HeldFile } from "../fs/file-handle.ts";
import type { Before } from "../fs/transaction.ts";
import { applyHunks } from "./apply-hunks.ts";
import { bytesWith } from "./code-units.ts";
import { checkEditSize, editableText } from "./editable-text.ts";
import { nothingChanges, refused } from "./errors.ts";
import type { FoundPatch } from "./found-patch.ts";
import { type ShownDiff, shownDiff } from "./shown-diff.ts";

export type Prepared =
  | { readonly kind: "add"; readonly place: Place; readonly bytes: Buffer; readonly mode: number }
  | { readonly kind: "delete"; readonly file: HeldFile; readonly before: Before }
  | {
      readonly kind: "update";
      readonly file: HeldFile;
      readonly before: Before;
      readonly to: Place | undefined;
      readonly bytes: Buffer;
      readonly diff: ShownDiff | undefined;
    };

/** A file with what it holds. Throws MatrxError when it is too large. */
export async function readBefore(file: HeldFile, signal: AbortSignal): Promise<Before> {
  const stat = await file.existing();
  checkEditSize(stat.size, file.place.shown);
  return { stat, bytes: await file.read(stat, signal) };
}

/** What an existing file becomes. Throws MatrxError when the patch does not fit. */
export function prepare(
  found: Exclude<FoundPatch, { kind: "add" }>,
  file: HeldFile,
  before: Before,
  mayQuote: boolean,
): Prepared {
  const subject = { shown: found.place.shown, mayQuote };
  if (found.hunks === undefined) return { kind: "delete", file, before };
  if (found.kind === "update" && found.hunks.length === 0) {
    return { kind: "update", file, before, to: found.to, bytes: before.bytes, diff: undefined };
  }
  const text = editableText(before.bytes, undefined, subject.shown);
  const units = applyHunks(text, found.hunks, subject);
  if (found.kind === "delete") {
    if (units !== "") throw notAll(subject);
    return { kind: "delete", file, before };
  }
  if (units === text.units && !found.to) throw nothingChanges(subject);
  const bytes = bytesWith(text, units);
  return { kind: "update", file, before, to: found.to, bytes, diff: shownDiff(text, units) };
}

/** What programs are told of a changed file. */
export function factsOf(change: Prepared): Record<string, unknown> {
  if (change.kind === "add") {
    return { path: change.place.path, action: "added", ...contentFacts(change.bytes) };
  }
  const { path } = change.file.place;
  const before = { sha256_before: hash("sha256", change.before.bytes) };
  if (change.kind === "delete") return { path, action: "deleted", ...before };
  const lines = change.diff?.added !== undefined && {
    lines_added: change.diff.added,
    lines_removed: change.diff.removed,
  };
  const facts = { ...before, ...contentFacts(change.bytes), ...lines };
  return change.to
    ? { path: change.to.path, action: "moved", from: path, ...facts }
    : { path, action: "updated", ...facts };
}

function contentFacts(bytes: Buffer) {
  return { bytes: bytes.length, sha256: hash("sha256", bytes) };
}

function notAll(subject: { shown: string; mayQuote: boolean }): MatrxError {
  return refused(
    subject,
    "not_all",
    `The patch deletes ${subject.shown}, but does not list all its content. Nothing was changed`,
    'Delete it with "*** Delete File: PATH", which needs no content',
  );
}
