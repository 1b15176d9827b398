/** The way that a path takes, entry by entry and link by link, as far as the system goes along. */
import { lstatSync, readlinkSync } from "node:fs";
import type { Platform } from "../platform/platform.ts";

const MOST_LINKS = 40;

export interface Step {
  /** Canonical, but for the entry itself. */
  readonly place: string;
  readonly isLink: boolean;
  /** Names that come after it. */
  readonly rest: readonly string[];
}

/** The last step is where the path leads, or where the system refuses to go on. Never throws. */
export function* linkChain(absolute: string, { path }: Platform): Generator<Step, void> {
  const namesOf = (text: string) => text.split(path.sep).filter((name) => name !== "" && name !== ".");
  let folder = path.parse(absolute).root;
  let names = namesOf(absolute.slice(folder.length));
  for (let links = 0; names.length > 0 && links <= MOST_LINKS; ) {
    const [name = "", ...rest] = names;
    names = rest;
    if (name === "..") {
      // Not taken away as written: it leads out of where the link before it leads.
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

/** Undefined: it is no link. Null: the system does not say. */
function targetOf(place: string): string | undefined | null {
  try {
    // Nothing is thrown for what is not there: an error takes longer than the look.
    const stat = lstatSync(place, { throwIfNoEntry: false });
    if (!stat) return null;
    return stat.isSymbolicLink() ? readlinkSync(place) : undefined;
  } catch {
    return null;
  }
}
