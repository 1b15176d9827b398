/** Looks up on the disk what a caller's rights mean there, and compiles the rules of its commands. */
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { ClosedPaths } from "@matrx/shared/access-rules.ts";
import type { Caller, Rights } from "../core/gate.ts";
import type { Files } from "../fs/access.ts";
import { ClosedEntries, type Question } from "./closed-entries.ts";
import { realDisk } from "./disk.ts";
import { defaultLimits } from "./limits.ts";
import { isBelow } from "./paths.ts";
import { compileRules, grantedFolders, type SandboxRules } from "./rules.ts";
import { systemPaths, toolFolders } from "./system-paths.ts";

export class RulesCompiler {
  readonly #files: Files;
  readonly #home: string;
  readonly #entries = new ClosedEntries();
  readonly #limits = defaultLimits();

  constructor(files: Files, home = homedir()) {
    this.#files = files;
    this.#home = canonical(home);
  }

  /** `searchPath`: the PATH of commands. Throws MatrxError. */
  async compile({ session, rights }: Caller, searchPath: string): Promise<SandboxRules> {
    const { folderLimits, protectedSet } = await this.#files.boundaries(rights);
    const { closed: own, program } = protectedSet.paths;
    const globs = rights.closedPaths.flatMap((closure) => closure.globs);
    const closedPaths = new ClosedPaths(globs, this.#home);
    const home = this.#home;
    const named = [...own, ...globs.flatMap((glob) => pathOf(glob, home))];
    const granted = grantedFolders(
      { folderLimits, home, closed: named, mayRead: rights.mayRead },
      realDisk,
    ).filter((folder) => closedPaths.closing(folder) === undefined);
    const found = await this.#entries.find(granted, this.#question(rights, closedPaths, protectedSet));
    const otherHomes = this.#files.platform
      .otherHomes()
      .filter((other) => isUsers(other) && granted.some((folder) => isBelow(other, folder)));
    const tools = toolFolders(searchPath, [home, ...own]).filter(
      (folder) => closedPaths.closing(folder) === undefined,
    );
    return compileRules(
      {
        folderLimits: [granted],
        mayRead: rights.mayRead,
        mayWrite: rights.mayWrite,
        closed: [...named, ...found.closed, ...otherHomes],
        unchangeable: [...program, ...found.unchangeable],
        network: rights.network,
        cwd: canonical(session.cwd),
        home,
        limits: this.#limits,
        system: [...systemPaths().folders, ...tools],
      },
      realDisk,
    );
  }

  #question(
    { closedPaths, unchangeablePaths }: Rights,
    closed: ClosedPaths,
    protectedSet: Awaited<ReturnType<Files["boundaries"]>>["protectedSet"],
  ): Question {
    const unchangeable = new ClosedPaths(unchangeablePaths, this.#home);
    return {
      key: JSON.stringify([closedPaths, unchangeablePaths, protectedSet.paths]),
      isClosed: (entry) => closed.closing(entry) !== undefined,
      isUnchangeable: (entry) => unchangeable.closing(entry) !== undefined,
      kindOfFile: (stat) => protectedSet.kindOf(stat),
    };
  }
}

/** A glob that is a path, as such. */
function pathOf(glob: string, home: string): string[] {
  if (/[*?[\\]/.test(glob)) return [];
  const full = glob === "~" || glob.startsWith("~/") ? `${home}${glob.slice(1)}` : glob;
  return path.posix.isAbsolute(full) ? [path.posix.normalize(full).replace(/(?<=.)\/$/, "")] : [];
}

/** The homes of people; those of services are folders of the system. */
function isUsers(home: string): boolean {
  return /^\/(?:home|Users)\/|^\/root$/.test(home);
}

function canonical(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
