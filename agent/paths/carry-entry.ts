/** Takes an entry to another file system: a copy is made whole beside its place, takes it, and then the source goes. */
import { randomBytes } from "node:crypto";
import { lstat } from "node:fs/promises";
import { MatrxError } from "@matrx/shared/errors.ts";
import { type Copying, copyTree, stateOf } from "./copy-tree.ts";
import type { FileAccess } from "./files.ts";
import type { HeldEntry } from "./held-entry.ts";
import { placeEntry, replaceEntry, type Spot } from "./place-entry.ts";
import { newRemoval, removeTree } from "./remove-tree.ts";

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
    await removeTree(spot.parent, Buffer.from(name), newRemoval({ inspect, signal: NEVER }));
    throw error;
  }
  await removeSource(source, copying, inspect);
  return { entries: copying.copied.size, bytes: copying.bytes };
}

const NEVER = new AbortController().signal;

/** Only what was copied, as it was copied: what was written meanwhile stays. */
async function removeSource(
  source: HeldEntry,
  { copied }: Copying,
  inspect: (stat: HeldEntry["stat"]) => void,
): Promise<void> {
  const removal = newRemoval({ inspect, signal: NEVER, mayGo: (stat) => copied.has(stateOf(stat)) });
  let cause: unknown;
  try {
    if (await removeTree(source.parent, Buffer.from(source.name), removal)) return;
  } catch (error) {
    cause = error;
  }
  throw new MatrxError(
    {
      code: "TOOL_EXECUTION_FAILED",
      message: `The copy is whole, but of ${source.place.shown} not all could be removed (${removal.removed} entries were)`,
      hint: "Look at what is left there with ListDirectory, and delete it if the copy has it too",
      hop: "tool",
      details: { path: source.place.shown, removed: removal.removed, changed: removal.kept },
    },
    cause,
  );
}
