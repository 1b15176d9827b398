/**
 * Paths that policies, a grant or a default close to a call, and those that it may only read. They bind by name, by what
 * the names lead to, and by identity for what exists: under another mount, or under another hard link of a closed file. A
 * hard link of a file inside a closed folder, or of one that only a wildcard closes, is a path of its own, and open.
 */
import type { BigIntStats } from "node:fs";
import { homedir } from "node:os";
import { ClosedPaths, literalGlob } from "@matrx/shared/access-rules.ts";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { PathClosure, Rights } from "../core/gate.ts";
import { isPersonal } from "../platform/other-homes.ts";
import { isWithin } from "../platform/path-syntax.ts";
import type { Platform } from "../platform/platform.ts";
import { identityOf } from "./file-index.ts";
import { GlobDisk } from "./glob-disk.ts";
import { UnchangeablePaths } from "./unchangeable-paths.ts";

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
  readonly #unchangeable: UnchangeablePaths;

  /** As things are on the disk now. Synchronous: asynchronous calls would cost ten times as much. */
  constructor(
    { closedPaths, unchangeable }: Pick<Rights, "closedPaths" | "unchangeable">,
    platform: Platform,
    home = homedir(),
  ) {
    this.#platform = platform;
    this.#home = home;
    const disk = new GlobDisk(platform, home);
    const people = peoplesHomes(platform);
    this.#closures = closedPaths.map((closure) => closureOf(closure, people, disk));
    const globs = this.#closures.flatMap((closure) => closure.globs);
    this.#closed = new ClosedPaths(globs, home);
    this.#unchangeable = new UnchangeablePaths(unchangeable, disk);
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
    return this.isClosed(canonical) || this.#unchangeable.byTools(canonical);
  }

  /** As `isUnchangeable`, for commands. */
  isFixed(canonical: string): boolean {
    return this.isClosed(canonical) || this.#unchangeable.byCommands(canonical);
  }

  /** What may be changed in what is fixed. */
  get opened(): readonly string[] {
    return this.#unchangeable.opened;
  }

  /** Whether what names programs in a repository is fixed, wherever that is. */
  get keepsRepositories(): boolean {
    return this.#unchangeable.keepsRepositories;
  }

  /** Homes in which nothing may be created, because any name could begin with a dot. */
  get sealed(): readonly string[] {
    return this.#unchangeable.homes;
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
    if (this.isUnchangeable(canonical) || this.#unchangeable.isInRepository(canonical))
      throw unchangeableError(shown);
  }

  /** Throws MatrxError `PERMISSION_DENIED` if this file or folder is closed under another name. */
  inspect(found: BigIntStats, shown: string): void {
    const closure = this.#closing(found);
    if (closure) throw closedError(shown, closure.by);
  }

  /** As `inspect`, as an answer. */
  isClosedFile(found: BigIntStats): boolean {
    return this.#closing(found) !== undefined;
  }

  #closing(found: BigIntStats): Closure | undefined {
    if (this.#closures.length === 0) return undefined;
    const identity = identityOf(found);
    return this.#closures.find(({ places }) => places.has(identity));
  }
}

/** Globs for the homes of other people, whose files this program may read; they are too many to name each. */
function peoplesHomes({ otherHomes, path }: Platform): readonly string[] {
  const globs = otherHomes()
    .filter(isPersonal)
    .map((home) => {
      const above = path.dirname(home);
      return above === path.parse(home).root ? literalGlob(home) : path.join(literalGlob(above), "*");
    });
  return [...new Set(globs)];
}

function closureOf({ by, globs: written }: PathClosure, people: readonly string[], disk: GlobDisk): Closure {
  const places = new Map<string, string>();
  const globs = written.flatMap((glob) => {
    const { leads, place, found } = disk.followed(glob);
    if (place !== undefined && found) places.set(identityOf(found), place);
    const theirs = /^~[\\/]/.test(glob) ? people.map((home) => home + glob.slice(1)) : [];
    return [glob, ...theirs, ...leads];
  });
  return { by, globs, places };
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
