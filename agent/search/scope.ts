/** Where a search looks, and what it leaves out from the start. */
import { lstatSync } from "node:fs";
import type { FileAccess, ResolvedPath } from "../fs/access.ts";
import { explained } from "../fs/errors.ts";
import { refuseOddKind } from "../fs/open-file.ts";
import { isWithin } from "../platform/path-syntax.ts";
import { type IgnoreRules, rulesAbove } from "./ignore-rules.ts";

export interface Scope {
  readonly access: FileAccess;
  /** Canonical. Paths that engines find are relative to it, with `/` between names. */
  readonly folder: string;
  /** Only this file of the folder. */
  readonly file: string | undefined;
  readonly place: ResolvedPath;
  readonly showHidden: boolean;
  readonly includeIgnored: boolean;
  /** Rules of the folders above; undefined if none apply. */
  readonly above: IgnoreRules | undefined;
  /** Canonical paths that are not searched. */
  readonly leftOut: readonly string[];
}

export interface Wanted {
  readonly showHidden: boolean;
  readonly includeIgnored: boolean;
}

/** Throws MatrxError. */
export async function openScope(access: FileAccess, place: ResolvedPath, wanted: Wanted): Promise<Scope> {
  const { folder, file } = await folderAndFile(access, place);
  const { notSearched } = access.platform;
  const named = (path: string) => isWithin(folder, path, access.platform);
  const special = notSearched.filter((path) => isWithin(path, folder, access.platform) && !named(path));
  return {
    access,
    folder,
    file,
    place,
    ...wanted,
    above: wanted.includeIgnored ? undefined : await rulesAbove(access, folder),
    leftOut: [...access.closedInside(folder), ...special],
  };
}

async function folderAndFile(access: FileAccess, place: ResolvedPath) {
  const { folder, name } = access.parentOf(place);
  if (name === "") return { folder: place.path, file: undefined };
  await using parent = await access.openFolder(folder, place.shown);
  const found = await explained(place.shown, "search", async () => {
    // Synchronous, because the path was just resolved and is in the system's cache.
    return lstatSync(parent.at(name), { bigint: true });
  });
  if (found.isDirectory()) return { folder: place.path, file: undefined };
  refuseOddKind(found, place);
  access.inspect(found, place.shown);
  return { folder, file: name };
}
