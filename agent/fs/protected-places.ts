/** A set of paths, with every other path to the same files and folders: links, mounts, hard links. */
import { type BigIntStats, realpathSync, statSync } from "node:fs";
import type { Mounts } from "../platform/mounts.ts";
import { isWithin } from "../platform/path-syntax.ts";
import type { Platform } from "../platform/platform.ts";
import { type FileIndex, identityOf } from "./file-index.ts";
import { linkChain } from "./link-chain.ts";

export class ProtectedPlaces {
  readonly #platform: Platform;
  readonly #index: FileIndex;
  /** The paths as configured, as resolved, and as seen through other mounts. */
  readonly #paths: readonly string[];
  /** The same, folded for comparison: each path, and the prefix of paths inside it. */
  readonly #folded: readonly (readonly [itself: string, above: string])[];
  /** Links on the way to them. */
  readonly #links: readonly string[];
  /** Identities of the paths' own entries. */
  readonly #identities: ReadonlySet<string>;
  /** Identities of all files in them; computed when a file with several names is first met. */
  #files: Pick<ReadonlySet<string>, "has"> | undefined;

  /** Synchronous: asynchronous calls would cost ten times as much. */
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

  /** Whether a path is one of these, or inside one. */
  holds(canonical: string): boolean {
    const path = this.#platform.fold(canonical);
    return this.#folded.some(([itself, above]) => path === itself || path.startsWith(above));
  }

  /** Whether one of these, or a link on the way to it, is this folder or inside it. */
  liesWithin(canonical: string): boolean {
    const within = (path: string) => isWithin(path, canonical, this.#platform);
    return this.#paths.some(within) || this.#links.some(within);
  }

  /** Each with its other names, as far as they are known. */
  get all(): readonly string[] {
    return this.#paths;
  }

  inside(folder: string): string[] {
    return this.#paths.filter((path) => isWithin(path, folder, this.#platform));
  }

  /** Whether this folder is one of these, or this file is one of these or inside one, under whatever name. */
  is(found: BigIntStats): boolean {
    const identity = identityOf(found);
    if (this.#identities.has(identity)) return true;
    // A file with a single name cannot be reached by any other path.
    if (!found.isFile() || found.nlink < 2n || this.#paths.length === 0) return false;
    this.#files ??= this.#index.identitiesIn(this.#paths) ?? TOO_MANY;
    return this.#files.has(identity);
  }
}

/** If there are too many files to tell apart, none is touched. */
const TOO_MANY = { has: () => true };

function beginningsOf(path: string, { path: { sep } }: Platform): [itself: string, above: string] {
  return [path, path.endsWith(sep) ? path : path + sep];
}

/** The real path at present; something that does not exist yet will be created where its path leads. Notes the links on the way. */
function realPathOf(path: string, platform: Platform, links: Set<string>): string {
  let real = path;
  for (const { path: entry, isLink, rest } of linkChain(path, platform)) {
    if (isLink) links.add(entry);
    real = platform.path.join(entry, ...rest);
  }
  return real;
}

/** Spelt with the system's own names: on Windows a name also has a short form. */
function spelledBySystem(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** Undefined if it does not exist, or this program may not read it either. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
