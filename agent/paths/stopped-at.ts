/** Where a path that cannot be followed leads, as far as it does. */
import { lstat, readlink } from "node:fs/promises";
import type { Platform } from "../platform/platform.ts";

const MOST_LINKS = 40;

/** The place, reached through links, at which the system refuses to go on. */
export async function stoppedAt(absolute: string, { path }: Platform): Promise<string> {
  const { root } = path.parse(absolute);
  let place = root;
  let names = namesBelow(absolute);
  for (let links = 0; names.length > 0; ) {
    const [name = "", ...rest] = names;
    const next = path.join(place, name);
    const target = await targetOf(next).catch(() => null);
    if (target === null || links > MOST_LINKS) return next;
    if (target === undefined) {
      place = next;
      names = rest;
      continue;
    }
    links++;
    const goal = path.resolve(place, target);
    place = path.parse(goal).root;
    names = [...namesBelow(goal), ...rest];
  }
  return place;

  function namesBelow(whole: string): string[] {
    return whole
      .slice(path.parse(whole).root.length)
      .split(path.sep)
      .filter((name) => name !== "");
  }
}

/** Undefined: it is no link. Throws what the system says. */
async function targetOf(place: string): Promise<string | undefined> {
  return (await lstat(place)).isSymbolicLink() ? await readlink(place) : undefined;
}
