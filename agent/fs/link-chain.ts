/** Walks the chain of entries and links that a path leads through, as far as the system resolves it. */
import { lstatSync, readlinkSync } from "node:fs";
import type { Platform } from "../platform/platform.ts";

const MOST_LINKS = 40;

export interface Step {
  /** The entry's path, canonical except for the entry itself. */
  readonly place: string;
  readonly isLink: boolean;
  /** The names after it. */
  readonly rest: readonly string[];
}

/** The last step is the path's target, or where the system stops resolving. Never throws. */
export function* linkChain(absolute: string, { path }: Platform): Generator<Step, void> {
  const namesOf = (text: string) => text.split(path.sep).filter((name) => name !== "" && name !== ".");
  let folder = path.parse(absolute).root;
  let names = namesOf(absolute.slice(folder.length));
  for (let links = 0; names.length > 0 && links <= MOST_LINKS; ) {
    const [name = "", ...rest] = names;
    names = rest;
    if (name === "..") {
      // Not removed lexically: `..` after a link leads to the parent of the link's target.
      folder = path.dirname(folder);
      continue;
    }
    const place = path.join(folder, name);
    const target = targetOf(place);
    yield { place, isLink: typeof target === "string", rest };
    if (target === null) return;
    if (target === undefined) {
      folder = place;
      continue;
    }
    links++;
    const { root } = path.parse(target);
    if (root !== "") folder = root;
    names = [...namesOf(target.slice(root.length)), ...rest];
  }
}

/** Undefined if it is not a link; null if the system does not tell. */
function targetOf(place: string): string | undefined | null {
  try {
    // Does not throw if nothing is there: creating an error takes longer than the lookup.
    const stat = lstatSync(place, { throwIfNoEntry: false });
    if (!stat) return null;
    return stat.isSymbolicLink() ? readlinkSync(place) : undefined;
  } catch {
    return null;
  }
}
