/** Looks up on the disk what a caller's rights mean there, and compiles the rules of its commands. */
import { type BigIntStats, realpathSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Caller } from "../core/gate.ts";
import type { Files } from "../fs/access.ts";
import { linkChain } from "../fs/link-chain.ts";
import { PathClosures } from "../fs/path-closures.ts";
import { isPersonal } from "../platform/other-homes.ts";
import type { Platform } from "../platform/platform.ts";
import { ClosedEntries } from "./closed-entries.ts";
import { isReachableInSandbox, realDisk } from "./disk.ts";
import { defaultLimits } from "./limits.ts";
import { exchanged } from "./mount-check.ts";
import { isBelow, isIn } from "./paths.ts";
import {
  compileRules,
  type Disk,
  type EntryKind,
  grantedFolders,
  mayRead,
  mayWrite,
  type SandboxRules,
} from "./rules.ts";
import { searchedFolders } from "./searched-folders.ts";
import { systemPaths, toolFolders } from "./system-paths.ts";

/** How often folders are searched that another command moves meanwhile. */
const MOST_ATTEMPTS = 4;

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
  async compile(caller: Caller, searchPath: string): Promise<SandboxRules> {
    const { session, rights } = caller;
    const { folderLimits, protectedSet } = await this.#files.boundaries(caller);
    const { closed: own, program } = protectedSet.paths;
    const { platform } = this.#files;
    const home = this.#home;
    const closures = new PathClosures(rights, platform, home);
    const globs = rights.closedPaths.flatMap((closure) => closure.globs);
    const named = [...own, ...globs.flatMap((glob) => pathOf(glob, home))].flatMap((closed) =>
      leadsOf(closed, platform),
    );
    const isOpen = (folder: string) => !closures.isClosed(folder);
    const reach = { folderLimits, home, closed: named, mayRead: rights.mayRead };
    const granted = grantedFolders(reach, realDisk).filter(isOpen);
    const beyond = granted.find((folder) => !isReachableInSandbox(folder));
    if (beyond !== undefined) throw closedToRoot(beyond);
    const question = {
      key: JSON.stringify([
        ...[rights.closedPaths, rights.unchangeable, protectedSet.paths, named],
        rights.mayWrite,
      ]),
      isClosed: (entry: string) => closures.isClosed(entry),
      isUnchangeable: (entry: string) => closures.isFixed(entry),
      keepsRepositories: closures.keepsRepositories,
      closesPipes: !rights.mayWrite,
      kindOfFile: (stat: BigIntStats) => (closures.isClosedFile(stat) ? "closed" : protectedSet.kindOf(stat)),
    };
    const otherHomes = platform
      .otherHomes()
      .filter((other) => isPersonal(other) && granted.some((folder) => isBelow(other, folder)));
    const tools = toolFolders(searchPath, [home, ...named]).filter(
      (folder) => isOpen(folder) && isReachableInSandbox(folder),
    );
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const disk = snapshot(realDisk);
      const found = await this.#entries.find(granted, question);
      const rules = compileRules(
        {
          folderLimits: [granted],
          mayRead: rights.mayRead,
          mayWrite: rights.mayWrite,
          closed: [...named, ...found.closed, ...otherHomes],
          unchangeable: [
            ...program,
            ...granted.filter((folder) => closures.isFixed(folder)),
            ...found.unchangeable,
          ],
          opened: closures.opened.filter((entry) => !program.some((one) => isIn(entry, one))),
          sealed: closures.sealed,
          network: rights.network,
          cwd: canonical(session.cwd),
          home,
          limits: this.#limits,
          system: [...systemPaths().folders, ...tools],
        },
        disk,
      );
      // What was found may have been moved since, and is then not where the rules close it.
      const isInGranted = (entry: string) => granted.some((folder) => isBelow(entry, folder));
      const isCovered = found.closed.every((entry) => !isInGranted(entry) || !mayRead(rules, entry));
      const isKept = (entry: string) => disk.kindOf(entry) !== undefined && !mayWrite(rules, entry);
      if (!isCovered || !found.unchangeable.every(isKept)) continue;
      const searched = searchedFolders([...found.folders].filter(([folder]) => mayRead(rules, folder)));
      if (searched) return { ...rules, searched };
    }
    throw exchanged();
  }
}

/** Looks once at each path: what the rules were made of is what they are checked against. */
function snapshot(disk: Disk): Disk {
  const kinds = new Map<string, EntryKind | undefined>();
  return {
    kindOf(entry) {
      if (!kinds.has(entry)) kinds.set(entry, disk.kindOf(entry));
      return kinds.get(entry);
    },
    entriesOf: disk.entriesOf,
  };
}

function closedToRoot(folder: string): MatrxError {
  return agentError("UNAVAILABLE", `Commands can't enter ${folder}: it lies in a folder of another user`, {
    hint: "The agent runs as root, whose commands have no special rights in the sandbox. Ask the owner to run it as the folder's user",
    details: { path: folder },
  });
}

/** A glob that is a path, as such. */
function pathOf(glob: string, home: string): string[] {
  if (/[*?[\\]/.test(glob)) return [];
  const full = glob === "~" || glob.startsWith("~/") ? `${home}${glob.slice(1)}` : glob;
  return path.posix.isAbsolute(full) ? [path.posix.normalize(full).replace(/(?<=.)\/$/, "")] : [];
}

/** Where a path leads, and the links on the way, which must not lead elsewhere either. */
function leadsOf(closed: string, platform: Platform): string[] {
  let real = closed;
  const links: string[] = [];
  for (const { path: entry, isLink, rest } of linkChain(closed, platform)) {
    if (isLink) links.push(entry);
    real = path.posix.join(entry, ...rest);
  }
  return [real, ...links];
}

/** The system's own way: the library's removes `..` after a link lexically. */
function canonical(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}
