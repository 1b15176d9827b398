/** Paths that a call may read, and not change. */
import { ClosedPaths, literalGlob } from "@matrx/shared/access-rules.ts";
import type { Unchangeable } from "../core/gate.ts";
import { isPersonal } from "../platform/other-homes.ts";
import { absolutePath, isAbsolute, isWithin } from "../platform/path-syntax.ts";
import { isGitFolder } from "./git-folder.ts";
import type { GlobDisk } from "./glob-disk.ts";

export class UnchangeablePaths {
  /** Canonical paths of homes that may only be changed in what is there already. */
  readonly homes: readonly string[];
  /** Paths in homes that were named; canonical. */
  readonly opened: readonly string[];
  readonly #always: ClosedPaths;
  readonly #unlessNamed: ClosedPaths;
  readonly #opened: ClosedPaths;
  readonly #byTools: ClosedPaths;
  readonly #disk: GlobDisk;

  constructor({ always, unlessNamed, named, byTools }: Unchangeable, disk: GlobDisk) {
    const { home } = disk;
    const others = unlessNamed.length === 0 ? [] : disk.platform.otherHomes().filter(isPersonal);
    const followed = (globs: readonly string[]) =>
      new ClosedPaths(
        globs.flatMap((glob) => [glob, ...disk.followed(glob).leads]),
        home,
      );
    this.#disk = disk;
    this.#always = followed(always);
    this.#byTools = followed(byTools);
    this.#unlessNamed = followed([
      ...unlessNamed,
      ...others.flatMap((one) =>
        unlessNamed.filter(isInHome).map((glob) => literalGlob(one) + glob.slice(1)),
      ),
      ...(unlessNamed.length === 0 ? [] : programFolders(disk)),
    ]);
    const exceptions = this.#exceptions(named, unlessNamed);
    this.#opened = new ClosedPaths(exceptions.map(literalGlob), home);
    this.opened = exceptions.filter(
      (path) => this.#always.closing(path) === undefined && disk.leadOf(path).real === path,
    );
    this.homes = unlessNamed.length === 0 ? [] : [home, ...others].map((one) => disk.leadOf(one).real);
  }

  get isEmpty(): boolean {
    return this.#always.isEmpty && this.#unlessNamed.isEmpty && this.#byTools.isEmpty;
  }

  byCommands(path: string): boolean {
    if (this.#always.closing(path) !== undefined) return true;
    return this.#unlessNamed.closing(path) !== undefined && this.#opened.closing(path) === undefined;
  }

  byTools(path: string): boolean {
    return this.byCommands(path) || this.#byTools.closing(path) !== undefined;
  }

  get keepsRepositories(): boolean {
    return !this.#byTools.isEmpty;
  }

  /** Whether a change of a path would be one of a repository without `.git`, or could make one. Looks at the disk. */
  isInRepository(path: string): boolean {
    return this.keepsRepositories && isGitFolder(path, this.#disk.platform);
  }

  /** What was named of all this, and where links lead it: only those that the caller can't have made. */
  #exceptions(named: readonly string[], unlessNamed: readonly string[]): string[] {
    const { platform, home } = this.#disk;
    const paths = named
      .filter((path) => isAbsolute(path, platform) && !platform.objectionTo(path))
      .map((path) => absolutePath(path, home, platform, home))
      .filter((path) => this.#unlessNamed.closing(path) !== undefined);
    const outermost = paths.filter(
      (path) => !paths.some((one) => one !== path && isWithin(path, one, platform)),
    );
    const homes = [home, this.#disk.leadOf(home).real].map((one) => new ClosedPaths(unlessNamed, one));
    return outermost.flatMap((path) => {
      const { real } = this.#disk.leadOf(path);
      const isByOwner = homes.some((places) => places.closing(path) !== undefined);
      return isByOwner || real === path ? [path, real] : [];
    });
  }
}

function isInHome(glob: string): boolean {
  return glob.startsWith("~");
}

/** Folders of the home in which programs are found by their names. */
function programFolders({ home, platform: { path }, platform }: GlobDisk): string[] {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders
    .filter((one) => isWithin(one, home, platform) && !isWithin(home, one, platform))
    .map(literalGlob);
}
