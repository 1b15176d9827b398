/** The files that a patch names, each found and allowed; nothing is read of them here. */
import { MatrxError } from "@matrx/shared/errors.ts";
import type { FileAccess, Place } from "../fs/access.ts";
import { isAbsolute } from "../fs/path-syntax.ts";
import { exists } from "../fs/transaction.ts";
import { type FilePatch, type Hunk, textOf, USUAL_MODE } from "./patch-types.ts";

/** A file patch whose paths were found, and may be changed. */
export type FoundPatch =
  | { readonly kind: "add"; readonly place: Place; readonly content: string; readonly mode: number }
  | { readonly kind: "delete"; readonly place: Place; readonly hunks: readonly Hunk[] | undefined }
  | {
      readonly kind: "update";
      readonly place: Place;
      readonly to: Place | undefined;
      readonly hunks: readonly Hunk[];
    };

/** Finds all files of a patch; `base` is the folder for relative names. Throws MatrxError. */
export async function findAll(
  access: FileAccess,
  patches: readonly FilePatch[],
  base: string | undefined,
): Promise<FoundPatch[]> {
  const { platform } = access;
  const named = (name: string) =>
    base === undefined || isAbsolute(name, platform) ? name : platform.path.join(base, name);
  const found: FoundPatch[] = [];
  for (const patch of patches) found.push(await find(access, patch, named));
  return found;
}

async function find(
  access: FileAccess,
  patch: FilePatch,
  named: (name: string) => string,
): Promise<FoundPatch> {
  const name = named(patch.path);
  if (patch.kind === "add") {
    const place = await access.find(name, "write");
    if (place.missing.length === 0) throw exists(place);
    return { kind: "add", place, content: patch.content, mode: patch.mode };
  }
  if (patch.kind === "update" && patch.to === undefined) {
    const content = contentFromNothing(patch.hunks);
    const place = await access.find(name, "write");
    if (content !== undefined && place.missing.length > 0) {
      return { kind: "add", place, content, mode: USUAL_MODE };
    }
    return {
      kind: "update",
      place: await access.findExisting(name, "write"),
      to: undefined,
      hunks: patch.hunks,
    };
  }
  // A link is meant itself here, and is no file.
  const place = await access.findExistingEntry(name, "remove");
  if (patch.kind === "delete") return { kind: "delete", place, hunks: patch.hunks };
  const to = await access.find(named(patch.to ?? ""), "write");
  if (to.missing.length === 0) throw exists(to);
  return { kind: "update", place, to, hunks: patch.hunks };
}

/** The content of hunks that say there was nothing before: a new file, even if nothing else says so. */
function contentFromNothing(hunks: readonly Hunk[]): string | undefined {
  const [only, ...others] = hunks;
  return only?.line === 0 && others.length === 0 ? textOf(only.lines, only.endless.new) : undefined;
}

/** All paths that are changed, in an order of their own. Throws MatrxError when one is named twice. */
export function pathsOf(found: readonly FoundPatch[]): string[] {
  const places = found.flatMap((one) =>
    one.kind === "update" && one.to ? [one.place, one.to] : [one.place],
  );
  const seen = new Set<string>();
  for (const { path, shown } of places) {
    if (seen.has(path)) throw namedTwice(shown);
    seen.add(path);
  }
  return [...seen].sort();
}

function namedTwice(shown: string): MatrxError {
  return new MatrxError({
    code: "INVALID_PARAMETERS",
    message: `patch: ${shown} is named twice. Nothing was changed`,
    hint: "Put all hunks of a file under one line that names it",
    hop: "tool",
    details: { field: "patch", path: shown },
  });
}
