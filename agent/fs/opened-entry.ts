/** An entry of a folder that is held open: what is about to be moved or deleted. */
import type { BigIntStats } from "node:fs";
import { lstat, stat as statOf } from "node:fs/promises";
import { homedir } from "node:os";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { Directory } from "../platform/directory.ts";
import type { FileAccess, Place } from "./access.ts";
import { shownName } from "./display-name.ts";
import { explained } from "./errors.ts";
import { isWithin } from "./path-syntax.ts";
import { canonicalOf } from "./resolve.ts";

export interface HeldEntry {
  readonly place: Place;
  readonly parent: Directory;
  readonly name: string;
  /** Its own: of a link, not of what it leads to. */
  readonly stat: BigIntStats;
}

/**
 * Opens the folder of an entry that was found with the intent `remove`. Close its parent. Throws MatrxError, also for what
 * nobody means to move or delete as a whole: the root, the home folder, folders of the system, mount points.
 */
export async function holdEntry(access: FileAccess, place: Place): Promise<HeldEntry> {
  const { folder, name } = access.parentOf(place);
  if (name === "") throw needed(place, "it is the root of the file system");
  const parent = await access.openFolder(folder, place.shown);
  try {
    return await explained(place.shown, "look at", async () => {
      const stat = await lstat(parent.at(name), { bigint: true });
      access.inspect(stat, place.shown);
      if (stat.isDirectory()) await refuseNeeded(access, place, stat, parent);
      return { place, parent, name, stat };
    });
  } catch (error) {
    await parent.close();
    throw error;
  }
}

async function refuseNeeded(
  { platform }: FileAccess,
  place: Place,
  stat: BigIntStats,
  parent: Directory,
): Promise<void> {
  const { path } = place;
  const home = await canonicalOf(homedir(), platform).catch(() => undefined);
  if (home && isWithin(home.path, path, platform)) {
    throw needed(place, home.path === path ? "it is the home folder" : "the home folder is in it");
  }
  if (platform.systemFolders.some((folder) => platform.fold(folder) === platform.fold(path))) {
    throw needed(place, "it is a system folder");
  }
  const mounted = platform.mounts().points.find((point) => isWithin(point, path, platform));
  if (mounted === path || (await statOf(parent.self, { bigint: true })).dev !== stat.dev) {
    throw needed(place, "another file system is mounted there");
  }
  if (mounted !== undefined) {
    throw needed(place, `another file system is mounted in it, at ${shownName(mounted)}`);
  }
}

function needed({ shown }: Place, why: string): MatrxError {
  return new MatrxError({
    code: "PERMISSION_DENIED",
    message: `${shown} can't be moved or deleted: ${why}`,
    hint: "Name the entries in it one by one",
    hop: "tool",
    details: { path: shown },
  });
}
