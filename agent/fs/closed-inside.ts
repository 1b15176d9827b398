/**
 * Looks for closed entries in a folder that is about to be moved or deleted. Otherwise a folder could be renamed, changed
 * under its new name, and renamed back. Entries that appear while it looks may be missed.
 */
import { opendir } from "node:fs/promises";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { Directory } from "../platform/directory.ts";
import { textOfName } from "../text/display-name.ts";
import type { FileAccess } from "./access.ts";
import { explained } from "./errors.ts";
import type { OpenedEntry } from "./file-handle.ts";
import { AS_BYTES } from "./list-folder.ts";
import { MOST_DEPTH, tooDeepError } from "./remove-tree.ts";

const MOST_ENTRIES = 200_000;

interface Look {
  readonly access: FileAccess;
  readonly shown: string;
  readonly signal: AbortSignal;
  entries: number;
}

/**
 * Throws MatrxError `PERMISSION_DENIED` if a folder has an entry that the caller may not change; `to`: or may not where the
 * folder is moved.
 */
export async function refuseClosedInside(
  access: FileAccess,
  { place, parent, name, stat }: OpenedEntry,
  signal: AbortSignal,
  to?: string,
): Promise<void> {
  if (!stat.isDirectory() || !access.closesPaths) return;
  const look = { access, shown: place.shown, signal, entries: 0 };
  const paths = to === undefined ? [place.path] : [place.path, to];
  await explained(place.shown, "look into", () => lookInto(parent, Buffer.from(name), paths, look, 0));
}

/** `paths`: the folder's own, and where it will be. */
async function lookInto(
  parent: Directory,
  name: Buffer,
  paths: readonly string[],
  look: Look,
  depth: number,
): Promise<void> {
  const { access, shown } = look;
  if (depth >= MOST_DEPTH) throw tooDeepError();
  await using folder = await parent.openFolder(name, (stat) => access.inspect(stat, shown));
  for await (const entry of await opendir(folder.self, AS_BYTES)) {
    look.signal.throwIfAborted();
    if (++look.entries > MOST_ENTRIES) throw tooManyError(shown);
    const bytes = entry.name as unknown as Buffer;
    const within = paths.map((path) => access.platform.path.join(path, textOfName(bytes)));
    if (within.some((path) => access.isUnchangeable(path))) throw holdsClosedError(shown);
    if (entry.isDirectory()) await lookInto(folder, bytes, within, look, depth + 1);
  }
}

/** Does not name the entry: that it exists is not the caller's business. */
function holdsClosedError(shown: string): MatrxError {
  return toolError(
    "PERMISSION_DENIED",
    `${shown} can't be moved or deleted: it may hold entries that are closed`,
    {
      hint: "Name the entries in it one by one",
      details: { path: shown, reason: "CLOSED" },
    },
  );
}

function tooManyError(shown: string): MatrxError {
  return toolError(
    "PAYLOAD_TOO_LARGE",
    `${shown} has more than ${MOST_ENTRIES} entries, too many to look for closed ones among them`,
    { hint: "Name the entries in it one by one", details: { path: shown, limit: MOST_ENTRIES } },
  );
}
