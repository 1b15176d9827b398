/** The way that a path takes, entry by entry and link by link, as far as the system goes along. */
import { lstatSync, readlinkSync } from "node:fs";
import type { Platform } from "../platform/platform.ts";

const MOST_LINKS = 40;

export interface Step {
  /** Canonical, but for the entry itself. */
  readonly place: string;
  readonly isLink: boolean;
}

/** The last step is where the path leads, or where the system refuses to go on. Never throws. */
export function* wayOf(absolute: string, { path }: Platform): Generator<Step, void> {
  const namesBelow = (whole: string) =>
    whole
      .slice(path.parse(whole).root.length)
      .split(path.sep)
      .filter((name) => name !== "");
  let folder = path.parse(absolute).root;
  let names = namesBelow(absolute);
  for (let links = 0; names.length > 0 && links <= MOST_LINKS; ) {
    const [name = "", ...rest] = names;
    const place = path.join(folder, name);
    const target = targetOf(place);
    yield { place, isLink: typeof target === "string" };
    if (target === null) return;
    names = rest;
    folder = place;
    if (target === undefined) continue;
    links++;
    const goal = path.resolve(path.dirname(place), target);
    folder = path.parse(goal).root;
    names = [...namesBelow(goal), ...rest];
  }
}

/** Undefined: it is no link. Null: the system does not say. */
function targetOf(place: string): string | undefined | null {
  try {
    return lstatSync(place).isSymbolicLink() ? readlinkSync(place) : undefined;
  } catch {
    return null;
  }
}
