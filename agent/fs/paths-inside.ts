/** Paths of all that is in a folder: what is done to the folder as a whole is done to each of them. */
import { opendir } from "node:fs/promises";
import type { PathState } from "../core/approved-state.ts";
import type { Caller } from "../core/gate.ts";
import type { Directory } from "../platform/directory.ts";
import { textOfName } from "../text/display-name.ts";
import type { FileAccess, Files } from "./access.ts";
import { AS_BYTES } from "./list-folder.ts";
import { MOST_DEPTH } from "./remove-tree.ts";

/** Beyond this many entries, a folder is not looked through. */
const MOST_ENTRIES = 100_000;

interface Look {
  readonly access: FileAccess;
  readonly signal: AbortSignal;
  readonly found: string[];
}

/**
 * What is in the folders among these states that a call takes as a whole, under its names now and, if it is moved, then.
 * Undefined: not all of it can be known.
 */
export async function pathsInside(
  files: Files,
  states: readonly PathState[],
  caller: Caller,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  const access = await files.as(caller);
  const { join } = access.platform.path;
  const destinations = states.filter(({ intent }) => intent === "write").map(({ path }) => path);
  const paths: string[] = [];
  for (const { path, named, intent, isWhole, kind } of states) {
    if (!isWhole || kind !== "folder") continue;
    const look: Look = { access, signal, found: [] };
    try {
      if (!(await lookInto(await access.openFolder(path, path), "", look, 0))) return undefined;
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
    const tops = [path, named, ...(intent === "remove" ? destinations : [])];
    for (const top of new Set(tops)) for (const inside of look.found) paths.push(join(top, inside));
  }
  return paths;
}

/** Closes the folder. Resolves with whether all of it was seen. Throws the system's error, or MatrxError. */
async function lookInto(opened: Directory, above: string, look: Look, depth: number): Promise<boolean> {
  await using folder = opened;
  if (depth >= MOST_DEPTH) return false;
  for await (const entry of await opendir(folder.self, AS_BYTES)) {
    look.signal.throwIfAborted();
    const name = entry.name as unknown as Buffer;
    const path = above + textOfName(name);
    if (look.found.push(path) > MOST_ENTRIES) return false;
    if (!entry.isDirectory()) continue;
    const below = await folder.openFolder(name, (stat) => look.access.inspect(stat, path));
    if (!(await lookInto(below, `${path}/`, look, depth + 1))) return false;
  }
  return true;
}
