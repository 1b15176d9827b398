/** Takes an entry to another file system: a copy is made whole beside its place, takes it, and then the source goes. */
import { randomBytes } from "node:crypto";
import { chmod, lstat } from "node:fs/promises";
import { MatrxError } from "@matrx/shared/errors.ts";
import { toolName } from "../core/tool-names.ts";
import type { FileAccess } from "./access.ts";
import { type Copying, changedMeanwhile, copyTree, stateOf } from "./copy-tree.ts";
import type { HeldEntry } from "./opened-entry.ts";
import { newRemoval, type Removal, removeTree } from "./remove-tree.ts";
import { placeEntry, replaceEntry, type Spot } from "./rename.ts";

export interface Carried {
  readonly entries: number;
  /** Of files. */
  readonly bytes: number;
}

/** Throws, and leaves all as it was, unless the error says otherwise. `replaces` says that a file stands there. */
export async function carryEntry(
  access: FileAccess,
  source: HeldEntry,
  spot: Spot,
  replaces: boolean,
  signal: AbortSignal,
): Promise<Carried> {
  const inspect = (stat: HeldEntry["stat"]) => access.inspect(stat, source.place.shown);
  const copying: Copying = { inspect, signal, copied: new Set(), bytes: 0 };
  const name = `.matrx-${randomBytes(8).toString("hex")}.tmp`;
  try {
    await copyTree(source.parent, Buffer.from(source.name), spot.parent, Buffer.from(name), copying);
    signal.throwIfAborted();
    const stat = await lstat(spot.parent.at(name), { bigint: true });
    const copy: HeldEntry = { place: source.place, parent: spot.parent, name, stat };
    await (replaces ? replaceEntry(copy, spot) : placeEntry(copy, spot, access.platform));
  } catch (error) {
    await removeTree(spot.parent, Buffer.from(name), ofCopy());
    throw error;
  }
  const removal = newRemoval({
    inspect,
    signal: NEVER,
    // What was written meanwhile was not copied, and stays.
    mayGo: (stat) => copying.copied.has(stateOf(stat)),
  });
  const cause = await removeTree(source.parent, Buffer.from(source.name), removal).then(
    (gone) => (gone ? undefined : changedMeanwhile()),
    (error: unknown) => error,
  );
  if (cause === undefined) return { entries: copying.copied.size, bytes: copying.bytes };
  if (removal.removed > 0 || replaces) throw sourceLeft(source, removal, cause);
  await removeTree(spot.parent, Buffer.from(spot.name), ofCopy());
  throw cause;
}

const NEVER = new AbortController().signal;

/** Folders of the copy may be closed to writing already, as those of the source are. */
function ofCopy(): Removal {
  return newRemoval({
    inspect: () => undefined,
    prepare: (folder) => chmod(folder.self, 0o700),
    signal: NEVER,
  });
}

function sourceLeft({ place }: HeldEntry, { removed, kept }: Removal, cause: unknown): MatrxError {
  return new MatrxError(
    {
      code: "TOOL_EXECUTION_FAILED",
      message: `The copy is complete, but not all of ${place.shown} could be removed (${removed} entries were)`,
      hint: `Look with ${toolName("ListDirectory")} at what is left there, and delete what the copy has too`,
      hop: "tool",
      details: { path: place.shown, removed, changed: kept },
    },
    cause,
  );
}
