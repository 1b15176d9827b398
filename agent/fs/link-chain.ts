/** Walks the chain of entries and links that a path leads through, as far as the system resolves it. */
import { lstatSync, readlinkSync } from "node:fs";
import type { Platform } from "../platform/platform.ts";

/** More links than this on one path count as a loop, as on Linux. */
export const MOST_LINKS = 40;

interface ChainEntry {
  /** Canonical except for the entry itself. */
  readonly path: string;
  readonly isLink: boolean;
  /** The names after it. */
  readonly rest: readonly string[];
}

/** The last entry is the path's target, or where the system stops resolving. Never throws. */
export function* linkChain(absolute: string, { path }: Platform): Generator<ChainEntry, void> {
  const namesOf = (text: string) => text.split(path.sep).filter((name) => name !== "" && name !== ".");
  let folder = path.parse(absolute).root;
  let names = namesOf(absolute.slice(folder.length));
  let last: string | undefined;
  for (let links = 0; names.length > 0 && links <= MOST_LINKS; ) {
    const [name = "", ...rest] = names;
    names = rest;
    if (name === "..") {
      // Not removed lexically: `..` after a link leads to the parent of the link's target.
      folder = path.dirname(folder);
      continue;
    }
    const entry = path.join(folder, name);
    const target = targetOf(entry);
    last = entry;
    yield { path: entry, isLink: typeof target === "string", rest };
    if (target === null) return;
    if (target === undefined) {
      folder = entry;
      continue;
    }
    links++;
    const { root } = path.parse(target);
    if (root !== "") folder = root;
    names = [...namesOf(target.slice(root.length)), ...rest];
  }
  // The last name was `..`, or a link to the folder that it is in.
  if (names.length === 0 && last !== folder) yield { path: folder, isLink: false, rest: [] };
}

/** Undefined if it is not a link; null if the system does not tell. */
function targetOf(entry: string): string | undefined | null {
  try {
    // Does not throw if nothing is there: creating an error takes longer than the lookup.
    const stat = lstatSync(entry, { throwIfNoEntry: false });
    if (!stat) return null;
    return stat.isSymbolicLink() ? readlinkSync(entry) : undefined;
  } catch {
    return null;
  }
}
