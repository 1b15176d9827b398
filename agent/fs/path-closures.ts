/**
 * Paths that policies, a grant or a default close to a call, and those that it may only read. They bind by name, by what
 * the names lead to, and by identity for what exists: under another mount, or under another hard link of a closed file. A
 * hard link of a file inside a closed folder, or of one that only a wildcard closes, is a path of its own, and open.
 */
import { type BigIntStats, lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { ClosedPaths, literalGlob } from "@matrx/shared/access-rules.ts";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { PathClosure, Rights } from "../core/gate.ts";
import type { Platform } from "../platform/platform.ts";
import { identityOf } from "./file-index.ts";
import { linkChain } from "./link-chain.ts";
import { isWithin } from "./path-syntax.ts";

interface Closure {
  readonly by: string;
  /** As written, and where they lead by links. */
  readonly globs: readonly string[];
  /** The files and folders that it names in full and that exist, by identity: canonical paths. */
  readonly places: ReadonlyMap<string, string>;
}

export class PathClosures {
  readonly #platform: Platform;
  readonly #home: string;
  readonly #closures: readonly Closure[];
  /** All that is closed, whoever closed it: most paths need no other question. */
  readonly #closed: ClosedPaths;
  readonly #unchangeable: ClosedPaths;

  /** As things are on the disk now. Synchronous: asynchronous calls would cost ten times as much. */
  constructor(
    { closedPaths, unchangeablePaths }: Pick<Rights, "closedPaths" | "unchangeablePaths">,
    platform: Platform,
    home = homedir(),
  ) {
    this.#platform = platform;
    this.#home = home;
    const disk = new Disk(platform, home);
    this.#closures = closedPaths.map((closure) => closureOf(closure, disk));
    const globs = this.#closures.flatMap((closure) => closure.globs);
    this.#closed = new ClosedPaths(globs, home);
    this.#unchangeable = new ClosedPaths(unchangeablePaths, home);
  }

  get isEmpty(): boolean {
    return this.#closed.isEmpty && this.#unchangeable.isEmpty;
  }

  /** Files and folders in a folder that are closed by their full path. */
  inside(folder: string): string[] {
    const places = this.#closures.flatMap((closure) => [...closure.places.values()]);
    return [...new Set(places)].filter((place) => isWithin(place, folder, this.#platform));
  }

  isClosed(canonical: string): boolean {
    return this.#closed.closing(canonical) !== undefined;
  }

  isUnchangeable(canonical: string): boolean {
    return this.isClosed(canonical) || this.#unchangeable.closing(canonical) !== undefined;
  }

  /** Throws MatrxError `PERMISSION_DENIED` unless a path may be read. */
  check(canonical: string, shown: string): void {
    if (!this.isClosed(canonical)) return;
    const closure = this.#closures.find(({ globs }) => new ClosedPaths(globs, this.#home).closing(canonical));
    throw closedError(shown, closure?.by ?? "a policy");
  }

  /** As `check`, for a path where something changes. */
  checkChange(canonical: string, shown: string): void {
    this.check(canonical, shown);
    if (this.isUnchangeable(canonical)) throw unchangeableError(shown);
  }

  /** Throws MatrxError `PERMISSION_DENIED` if this file or folder is closed under another name. */
  inspect(found: BigIntStats, shown: string): void {
    if (this.#closures.length === 0) return;
    const identity = identityOf(found);
    const closure = this.#closures.find(({ places }) => places.has(identity));
    if (closure) throw closedError(shown, closure.by);
  }
}

function closureOf({ by, globs: written }: PathClosure, disk: Disk): Closure {
  const globs = [...written];
  const places = new Map<string, string>();
  for (const glob of written) {
    const { place, rest } = disk.beginningOf(glob);
    if (place === undefined) continue;
    const { real, found } = disk.leadOf(place);
    if (real !== place) globs.push(literalGlob(real) + rest);
    if (rest === "" && found) places.set(identityOf(found), real);
  }
  return { by, globs, places };
}

interface Lead {
  /** Canonical. */
  readonly real: string;
  /** Undefined if nothing is there, or this program may not look at it either. */
  readonly found: BigIntStats | undefined;
}

/** Looks up where the paths of globs lead; each folder once. */
class Disk {
  readonly #home: string;
  readonly #platform: Platform;
  readonly #leads = new Map<string, Lead>();

  constructor(platform: Platform, home: string) {
    this.#platform = platform;
    this.#home = home;
  }

  /** The full path that a glob begins with, up to its first name with a wildcard; undefined: any folder. */
  beginningOf(glob: string): { place: string | undefined; rest: string } {
    const { path } = this.#platform;
    const isInHome = /^~(?:[\\/]|$)/.test(glob);
    const full = isInHome ? this.#home + glob.slice(1) : glob;
    if (!path.isAbsolute(full)) return { place: undefined, rest: glob };
    const from = isInHome ? this.#home.length : 0;
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
    const { path } = this.#platform;
    const above = path.dirname(place);
    if (above === place) return { real: place, found: statOf(place) };
    const folder = this.leadOf(above);
    const entry = path.join(folder.real, path.basename(place));
    if (!folder.found) return { real: entry, found: undefined };
    const found = statOf(entry);
    if (!found?.isSymbolicLink()) return { real: entry, found };
    const real = realPathOf(entry, this.#platform);
    return { real, found: statOf(real) };
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

function statOf(entry: string): BigIntStats | undefined {
  try {
    return lstatSync(entry, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const HINT = "Work without it, or ask the owner to open it to this token";

function closedError(shown: string, by: string): MatrxError {
  return toolError("PERMISSION_DENIED", `Access to ${shown} is closed by ${by}`, {
    hint: HINT,
    details: { path: shown, reason: "CLOSED" },
  });
}

function unchangeableError(shown: string): MatrxError {
  return toolError("PERMISSION_DENIED", `${shown} can't be changed: what it says may start programs`, {
    hint: HINT,
    details: { path: shown, reason: "CLOSED" },
  });
}
