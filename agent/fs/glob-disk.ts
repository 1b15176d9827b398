/** Where globs of paths lead on this machine's disk. */
import { type BigIntStats, readdirSync, realpathSync } from "node:fs";
import { literalGlob } from "@matrx/shared/access-rules.ts";
import { globMatcher } from "@matrx/shared/glob.ts";
import { isWithin } from "../platform/path-syntax.ts";
import type { Platform } from "../platform/platform.ts";
import { entryStat } from "./entry-stat.ts";
import { linkChain } from "./link-chain.ts";

/** Where a glob leads. */
interface Followed {
  /** Further globs, for where links lead what it matches. */
  readonly leads: readonly string[];
  /** Canonical, and what is there; if the glob is a path. */
  readonly place?: string;
  readonly found?: BigIntStats | undefined;
}

interface Lead {
  /** Canonical. */
  readonly real: string;
  /** Undefined if nothing is there, or this program may not look at it either. */
  readonly found: BigIntStats | undefined;
}

/** Looks up where the paths of globs lead; each folder once. */
export class GlobDisk {
  readonly home: string;
  readonly platform: Platform;
  readonly #leads = new Map<string, Lead>();
  readonly #links = new Map<string, readonly string[]>();

  constructor(platform: Platform, home: string) {
    this.platform = platform;
    this.home = home;
  }

  /** Follows the links on the way of a glob, and those that it matches in one folder. */
  followed(glob: string): Followed {
    const { place, rest } = this.#beginningOf(glob);
    if (place === undefined) return { leads: [] };
    const { real, found } = this.leadOf(place);
    const leads = real === place ? [] : [literalGlob(real) + rest];
    if (rest === "") return { leads, place: real, found };
    return { leads: [...leads, ...this.#linkedBy(rest, real)] };
  }

  #linkedBy(rest: string, folder: string): string[] {
    const name = rest.slice(1);
    if (/[\\/]/.test(name)) return [];
    const matches = globMatcher(name, { dot: true });
    return this.#linksIn(folder)
      .filter((link) => matches(this.platform.path.basename(link)))
      .map((link) => this.leadOf(link).real)
      .filter((real) => !isWithin(this.leadOf(this.home).real, real, this.platform))
      .map(literalGlob);
  }

  #linksIn(folder: string): readonly string[] {
    const links = this.#links.get(folder) ?? linksIn(folder, this.platform);
    this.#links.set(folder, links);
    return links;
  }

  /** The full path that a glob begins with, up to its first name with a wildcard; undefined: any folder. */
  #beginningOf(glob: string): { place: string | undefined; rest: string } {
    const { path } = this.platform;
    const isInHome = /^~(?:[\\/]|$)/.test(glob);
    const full = isInHome ? this.home + glob.slice(1) : glob;
    if (!path.isAbsolute(full)) return { place: undefined, rest: glob };
    const from = isInHome ? this.home.length : 0;
    const wild = full.slice(from).search(/[*?[]/);
    if (wild < 0) return { place: path.resolve(full), rest: "" };
    const until = full
      .slice(0, from + wild)
      .replaceAll("\\", "/")
      .lastIndexOf("/");
    return { place: path.resolve(full.slice(0, until + 1)), rest: full.slice(until) };
  }

  /** Where a path leads. What does not exist yet will be created there. */
  leadOf(place: string): Lead {
    const lead = this.#leads.get(place) ?? this.#lookUp(place);
    this.#leads.set(place, lead);
    return lead;
  }

  #lookUp(place: string): Lead {
    const { path } = this.platform;
    const above = path.dirname(place);
    if (above === place) return { real: place, found: entryStat(place) };
    const folder = this.leadOf(above);
    const entry = path.join(folder.real, path.basename(place));
    if (!folder.found) return { real: entry, found: undefined };
    const found = entryStat(entry);
    if (!found?.isSymbolicLink()) return { real: entry, found };
    const real = realPathOf(entry, this.platform);
    return { real, found: entryStat(real) };
  }
}

/** Where a link leads, also to what does not exist yet. */
function realPathOf(link: string, platform: Platform): string {
  try {
    return realpathSync.native(link);
  } catch {
    let real = link;
    for (const { path, rest } of linkChain(link, platform)) real = platform.path.join(path, ...rest);
    return real;
  }
}

function linksIn(folder: string, { path }: Platform): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => path.join(folder, name));
  } catch {
    return [];
  }
}
