/** Gives an entry its new place, on whatever file system that is, and says why not. */
import type { BigIntStats } from "node:fs";
import { unlink } from "node:fs/promises";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { FileAccess, Place } from "./access.ts";
import { hasCode } from "./errors.ts";
import { type Carried, carryEntry } from "./move-across-devices.ts";
import type { HeldEntry } from "./opened-entry.ts";
import { placeEntry, replaceEntry, type Spot } from "./rename.ts";
import { entryAt } from "./write-file.ts";

export interface Moved {
  readonly overwrote: boolean;
  /** It went to another file system. */
  readonly carried?: Carried;
}

/** Throws MatrxError where the place is taken, else what the system says. */
export async function moveEntry(
  access: FileAccess,
  source: HeldEntry,
  spot: Spot,
  to: Place,
  overwrite: boolean,
  signal: AbortSignal,
): Promise<Moved> {
  const old = await entryAt(spot.parent, spot.name);
  if (old && isSame(old, source.stat)) return await respell(source, spot, to, overwrite);
  if (old) refuseOld(access, source, old, to, overwrite);
  signal.throwIfAborted();
  const overwrote = old !== undefined;
  try {
    await (old ? replaceEntry(source, spot) : placeEntry(source, spot, access.platform));
    return { overwrote };
  } catch (error) {
    if (hasCode(error, "EEXIST", "ENOTEMPTY")) throw taken(to.shown, "Another program just created it");
    if (!hasCode(error, "EXDEV")) throw error;
  }
  try {
    return { overwrote, carried: await carryEntry(access, source, spot, overwrote, signal) };
  } catch (error) {
    if (hasCode(error, "EEXIST", "ENOTEMPTY")) throw taken(to.shown, "Another program just created it");
    throw error;
  }
}

/** The system takes both names for the same entry, or they are two names of one file. */
async function respell(source: HeldEntry, spot: Spot, to: Place, overwrite: boolean): Promise<Moved> {
  if (source.stat.isDirectory() || source.stat.nlink === 1n) {
    await replaceEntry(source, spot);
    return { overwrote: false };
  }
  if (!overwrite)
    throw taken(to.shown, "It is another name for the same file; give overwrite to keep only that name");
  // To rename one onto the other would leave both.
  await source.parent.confirm(source.name, source.stat);
  await unlink(source.parent.at(source.name));
  return { overwrote: true };
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

function refuseOld(
  access: FileAccess,
  source: HeldEntry,
  old: BigIntStats,
  to: Place,
  overwrite: boolean,
): void {
  access.inspect(old, to.shown);
  if (old.isDirectory()) {
    const { sep } = access.platform.path;
    throw taken(to.shown, `It is a folder; to move something into it, write ${to.shown}${sep}`);
  }
  if (!overwrite) throw taken(to.shown, "Choose another name, or give overwrite: true to replace it");
  if (source.stat.isDirectory())
    throw taken(to.shown, "A folder can't replace a file; delete the file first");
}

function taken(shown: string, hint: string): MatrxError {
  return new MatrxError({
    code: "CONFLICT",
    message: `${shown} already exists; nothing was moved`,
    hint,
    hop: "tool",
    details: { path: shown },
  });
}
