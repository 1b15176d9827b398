/** Looks at what a link leads to, by descriptors: the link may be put elsewhere once its path has been checked. */
import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { pathChangedError } from "../platform/directory.ts";
import type { FileAccess } from "./access.ts";
import { explained } from "./errors.ts";

/** Undefined: nothing is there. Throws MatrxError, `PERMISSION_DENIED` if it may not be read. */
export async function lookBeyond(access: FileAccess, link: string): Promise<BigIntStats | undefined> {
  const place = await access.find(link, "read");
  if (place.missing.length > 0) return undefined;
  const { folder, name } = access.parentOf(place);
  await using parent = await access.openFolder(folder, place.shown);
  // A descriptor of the root is itself a link.
  const entry = name === "" ? `${parent.self}/.` : parent.at(name);
  const stat = await explained(place.shown, "look at", () => lstat(entry, { bigint: true }));
  if (stat.isSymbolicLink()) throw pathChangedError(place.path);
  access.inspect(stat, place.shown);
  return stat;
}
