/** Some paths, with every other way that leads to what stands there: links, mounts, second names of files. */
import { type BigIntStats, realpathSync, statSync } from "node:fs";
import type { Mounts } from "../platform/mounts.ts";
import type { Platform } from "../platform/platform.ts";
import { type FileIndex, identityOf } from "./file-index.ts";
import { linkChain } from "./link-chain.ts";
import { isWithin } from "./path-syntax.ts";

export class ProtectedPlaces {
  readonly #platform: Platform;
  readonly #index: FileIndex;
  /** As configured, as they really are, and as mounts show them elsewhere. */
  readonly #paths: readonly string[];
  /** The same for comparing: each, and what paths in it begin with. */
  readonly #folded: readonly (readonly [itself: string, above: string])[];
  /** Links on the way there. */
  readonly #links: readonly string[];
  /** Of what stands at the paths. */
  readonly #identities: ReadonlySet<string>;
  /** Of all files in them; looked up when one with a second name is met. */
  #files: Pick<ReadonlySet<string>, "has"> | undefined;

  /** Synchronously: a thread of the pool would cost ten times as much. */
  constructor(configured: readonly string[], platform: Platform, mounts: Mounts, index: FileIndex) {
    this.#platform = platform;
    this.#index = index;
    const paths = new Set(configured);
    const links = new Set<string>();
    const identities = new Set<string>();
    for (const path of configured) {
      const real = realPathOf(path, platform, links);
      paths.add(real);
      for (const alias of mounts.aliasesOf(real)) paths.add(alias);
      const found = statOf(real);
      if (!found) continue;
      identities.add(identityOf(found));
      paths.add(spelledBySystem(real));
    }
    this.#paths = [...paths];
    this.#folded = this.#paths.map((path) => beginningsOf(platform.fold(path), platform));
    this.#links = [...links];
    this.#identities = identities;
  }

  /** Tells whether a path is one of these, or lies in one. */
  holds(canonical: string): boolean {
    const place = this.#platform.fold(canonical);
    return this.#folded.some(([itself, above]) => place === itself || place.startsWith(above));
  }

  /** Tells whether one of these, or a link on the way to it, lies in a folder or is it. */
  liesWithin(canonical: string): boolean {
    const within = (path: string) => isWithin(path, canonical, this.#platform);
    return this.#paths.some(within) || this.#links.some(within);
  }

  inside(folder: string): string[] {
    return this.#paths.filter((path) => isWithin(path, folder, this.#platform));
  }

  /** Tells whether this very folder is one of these, or this very file is or lies in one, under whatever name. */
  is(found: BigIntStats): boolean {
    const identity = identityOf(found);
    if (this.#identities.has(identity)) return true;
    // A file with a single name is reached by no other path than those.
    if (!found.isFile() || found.nlink < 2n || this.#paths.length === 0) return false;
    this.#files ??= this.#index.identitiesIn(this.#paths) ?? TOO_MANY;
    return this.#files.has(identity);
  }
}

/** What cannot be told apart is not touched. */
const TOO_MANY = { has: () => true };

function beginningsOf(path: string, { path: { sep } }: Platform): [itself: string, above: string] {
  return [path, path.endsWith(sep) ? path : path + sep];
}

/** Where a path leads now; what is not there yet will be made where its path leads. Notes the links on the way. */
function realPathOf(path: string, platform: Platform, links: Set<string>): string {
  let real = path;
  for (const { place, isLink, rest } of linkChain(path, platform)) {
    if (isLink) links.add(place);
    real = platform.path.join(place, ...rest);
  }
  return real;
}

/** With the names that the system itself has for it: on Windows a name has a short form too. */
function spelledBySystem(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** Undefined: it is not there, or is closed to this program as well. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
