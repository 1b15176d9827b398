/** The only way for tools to touch the file system: enforces the protected set and the call's rights. */
import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { MatrxError, toolError } from "@matrx/shared/errors.ts";
import { KeyedMutex } from "@matrx/shared/mutex.ts";
import type { Caller, Intent, PathNeed, Rights } from "../core/gate.ts";
import { currentPlatform } from "../platform/current.ts";
import type { Directory } from "../platform/directory.ts";
import { absolutePath, isAbsolute, isWithin } from "../platform/path-syntax.ts";
import type { Platform } from "../platform/platform.ts";
import { shownName } from "../text/display-name.ts";
import { toolName } from "../text/tool-names.ts";
import { explained, fileError } from "./errors.ts";
import { linkChain } from "./link-chain.ts";
import { notFound } from "./not-found.ts";
import { PathClosures } from "./path-closures.ts";
import { FolderLimits } from "./path-policy.ts";
import { newProtectedFiles, type ProtectedPaths, ProtectedSet, type Use } from "./protected-paths.ts";
import { type Canonical, canonicalEntryOf, canonicalOf } from "./resolve.ts";

/** A path that was allowed. */
export interface ResolvedPath extends Canonical {
  /** The absolute form of what the caller named. */
  readonly named: string;
  /** The same for messages: on one line, without hidden characters. */
  readonly shown: string;
}

export interface Boundaries {
  /** The folders that each party allows which limits folders at all; canonical. */
  readonly folderLimits: readonly (readonly string[])[];
  readonly protectedSet: ProtectedSet;
}

/** Folders that other callers than the owner see or change as their grant may. */
interface Kept {
  protectedFrom(grant: string | undefined): ProtectedPaths;
}

export interface FilesOptions {
  /** Matrx's own files, as of the time of the call. */
  readonly protectedPaths: () => ProtectedPaths;
  readonly pictures?: Kept;
  readonly platform?: Platform;
}

export class Files {
  readonly platform: Platform;
  /** Keyed by canonical path; every tool that changes a file runs under it. */
  readonly mutex = new KeyedMutex();
  readonly protectedPaths: () => ProtectedPaths;
  readonly #pictures: Kept | undefined;
  readonly #protectedFiles = newProtectedFiles();
  readonly #accesses = new WeakMap<Rights, Promise<FileAccess>>();

  constructor({ protectedPaths, pictures, platform = currentPlatform() }: FilesOptions) {
    this.#pictures = pictures;
    this.platform = platform;
    this.protectedPaths = protectedPaths;
  }

  /** The file system as one call may see it; created once per call. */
  as(caller: Caller): Promise<FileAccess> {
    let access = this.#accesses.get(caller.rights);
    if (!access) {
      access = this.#lookUp(caller);
      this.#accesses.set(caller.rights, access);
    }
    return access;
  }

  /** Checks only whether each path may be touched; other errors are left to the tool. Throws MatrxError `PERMISSION_DENIED`. */
  async check(paths: readonly PathNeed[], caller: Caller): Promise<void> {
    const access = await this.as(caller);
    for (const { path, intent, isEntry = false } of paths) {
      try {
        await (isEntry ? access.findEntry(path, intent) : access.find(path, intent));
      } catch (error) {
        if (error instanceof MatrxError && error.code === "PERMISSION_DENIED") throw error;
      }
    }
  }

  /** What bounds a call's access: for a sandbox, which has to know it beforehand. */
  async boundaries(caller: Caller): Promise<Boundaries> {
    const folderLimits = (await FolderLimits.lookUp(caller.rights.folderLimits, this.platform)).roots;
    return { folderLimits, protectedSet: this.#protectedSet(caller) };
  }

  #protectedSet({ session, rights }: Caller): ProtectedSet {
    const { closed, program } = this.protectedPaths();
    const kept = this.#pictures?.protectedFrom(session.grant) ?? { closed: [], program: [] };
    // A caller that may run any program could change this one anyway, whatever file tools forbid.
    const paths = rights.mayRunAnyProgram
      ? { closed, program: [] }
      : { closed: [...closed, ...kept.closed], program: [...program, ...kept.program] };
    return new ProtectedSet(paths, this.platform, this.#protectedFiles);
  }

  async #lookUp(caller: Caller): Promise<FileAccess> {
    const { session, rights } = caller;
    const limits = await FolderLimits.lookUp(rights.folderLimits, this.platform);
    const closures = new PathClosures(rights, this.platform);
    const protectedSet = this.#protectedSet(caller);
    return new FileAccess(this.platform, session.cwd, { protectedSet, limits, closures });
  }
}

interface Checks {
  readonly protectedSet: ProtectedSet;
  readonly limits: FolderLimits;
  readonly closures: PathClosures;
}

export class FileAccess {
  readonly platform: Platform;
  readonly #cwd: string;
  readonly #protected: ProtectedSet;
  readonly #limits: FolderLimits;
  readonly #closures: PathClosures;

  constructor(platform: Platform, cwd: string, { protectedSet, limits, closures }: Checks) {
    this.platform = platform;
    this.#cwd = cwd;
    this.#protected = protectedSet;
    this.#limits = limits;
    this.#closures = closures;
  }

  /** Resolves a path and checks whether it may be touched. Throws MatrxError. */
  find(text: string, intent: Intent): Promise<ResolvedPath> {
    return this.#find(text, intent, canonicalOf);
  }

  /** As `find`, but a link at the end of the path means the link itself, not its target. */
  findEntry(text: string, intent: Intent): Promise<ResolvedPath> {
    return this.#find(text, intent, canonicalEntryOf);
  }

  async #find(text: string, intent: Intent, follow: typeof canonicalOf): Promise<ResolvedPath> {
    const named = absolutePath(text, this.#cwd, this.platform);
    const shown = shownName(named);
    const canonical = await this.#follow(named, shown, follow);
    this.#limits.check(canonical.path, shown);
    // Removing an entry changes the folder that contains it.
    if (intent === "remove") this.#limits.check(this.parentOf(canonical).folder, `the folder of ${shown}`);
    const isEntry = follow === canonicalEntryOf;
    if (canonical.path !== named) this.#checkWay(isEntry ? this.platform.path.dirname(named) : named, shown);
    if (intent === "read") this.#closures.check(canonical.path, shown);
    else this.#closures.checkChange(canonical.path, shown);
    this.#protected.check(canonical.path, shown, useOf(intent, canonical, isEntry));
    const inCwd = !isAbsolute(text, this.platform);
    if (inCwd && canonical.missing.length > 0) await this.#checkCwd();
    return { ...canonical, named, shown };
  }

  /** As `find`, and it must exist; otherwise the error suggests similar names. */
  async findExisting(text: string, intent: Intent): Promise<ResolvedPath> {
    return await this.#existing(await this.find(text, intent));
  }

  /** As `findExisting`, for a path that another program will open: also refuses a protected file under another name. */
  async findToHandOver(text: string): Promise<ResolvedPath> {
    const place = await this.findExisting(text, "read");
    const { folder, name } = this.parentOf(place);
    await using parent = await this.openFolder(folder, place.shown);
    const entry = name === "" ? parent.self : parent.at(name);
    const stat = await explained(place.shown, "open", () => lstat(entry, { bigint: true }));
    this.inspect(stat, place.shown);
    return place;
  }

  /** As `findEntry`, and it must exist. */
  async findExistingEntry(text: string, intent: Intent): Promise<ResolvedPath> {
    return await this.#existing(await this.findEntry(text, intent));
  }

  /** Whether a path, or the target that it leads to, may be read. */
  async mayRead(path: string): Promise<boolean> {
    try {
      await this.find(path, "read");
      return true;
    } catch (error) {
      return !(error instanceof MatrxError && error.code === "PERMISSION_DENIED");
    }
  }

  /** As `checkCanonical`, as an answer. */
  mayReadCanonical(canonical: string): boolean {
    try {
      this.checkCanonical(canonical);
      return true;
    } catch {
      return false;
    }
  }

  /** Whether a canonical path may be changed, or created. Does not touch the file system. */
  mayChangeCanonical(canonical: string): boolean {
    if (!this.#limits.allows(canonical) || this.#closures.isUnchangeable(canonical)) return false;
    try {
      this.#protected.check(canonical, canonical, "change");
      return true;
    } catch {
      return false;
    }
  }

  /** The folders below a canonical path that a limit on folders names. */
  grantedInside(canonical: string): string[] {
    return this.#limits.roots.flat().filter((root) => isWithin(root, canonical, this.platform));
  }

  /** Throws MatrxError `PERMISSION_DENIED` unless a canonical path may be read. Does not touch the file system. */
  checkCanonical(canonical: string): void {
    this.#limits.check(canonical, canonical);
    this.#closures.check(canonical, canonical);
    this.#protected.check(canonical, canonical, "look");
  }

  /** Whether any paths are closed to the caller, besides Matrx's own. */
  get closesPaths(): boolean {
    return !this.#closures.isEmpty;
  }

  /** Whether a policy, the grant or a default closes a canonical path. Does not touch the file system. */
  isClosed(canonical: string): boolean {
    return this.#closures.isClosed(canonical);
  }

  /** As `isClosed`, or open to readers only. */
  isUnchangeable(canonical: string): boolean {
    return this.#closures.isUnchangeable(canonical);
  }

  /** Paths in a folder that are closed to all tools, or to this caller, so that a search need not look there. */
  closedInside(folder: string): string[] {
    return [...this.#protected.inside(folder), ...this.#closures.inside(folder)];
  }

  /** Opens a folder by its canonical path. Close it. Throws MatrxError. */
  openFolder(folder: string, shown: string): Promise<Directory> {
    return explained(shown, "open", () =>
      this.platform.openDirectory(folder, (stat) => this.inspect(stat, shown)),
    );
  }

  /** The canonical path of the deepest existing folder of a path. */
  existingPart(place: Canonical): string {
    return this.platform.path.resolve(place.path, ...place.missing.map(() => ".."));
  }

  parentOf(place: Canonical): { folder: string; name: string } {
    const { path } = this.platform;
    return { folder: path.dirname(place.path), name: path.basename(place.path) };
  }

  /** Whether the caller named a link rather than its target. */
  async isReachedByLink({ named, path }: ResolvedPath): Promise<boolean> {
    if (named === path) return false;
    return (await lstat(named).catch(() => undefined))?.isSymbolicLink() ?? false;
  }

  /** Throws MatrxError `PERMISSION_DENIED` if this file or folder is protected or closed under another name. */
  inspect(stat: BigIntStats, shown: string): void {
    this.#closures.inspect(stat, shown);
    this.#protected.inspect(stat, shown);
  }

  /** As `inspect`, for a file that is about to be changed. */
  inspectChange(stat: BigIntStats, shown: string): void {
    this.#closures.inspect(stat, shown);
    this.#protected.inspectChange(stat, shown);
  }

  async #follow(named: string, shown: string, follow: typeof canonicalOf): Promise<Canonical> {
    try {
      return await follow(named, this.platform, (folder) => this.#limits.allows(folder));
    } catch (error) {
      // Checked first, so that errors reveal nothing about paths outside the allowed folders, or protected ones.
      this.#limits.check(named, shown);
      this.#checkWay(named, shown);
      const path = [...linkChain(named, this.platform)].at(-1)?.path ?? named;
      this.#limits.check(path, shown);
      this.#protected.check(path, shown, "look");
      throw fileError(error, shown, "follow");
    }
  }

  /** What is closed is not followed either: that would reveal what is there. */
  #checkWay(named: string, shown: string): void {
    if (this.#closures.isEmpty) return;
    this.#closures.check(named, shown);
    for (const { path } of linkChain(named, this.platform)) this.#closures.check(path, shown);
  }

  async #checkCwd(): Promise<void> {
    const cwd = await canonicalOf(this.#cwd, this.platform).catch(() => undefined);
    if (cwd?.missing.length === 0) return;
    throw toolError("NOT_FOUND", `The session's working directory ${this.#cwd} no longer exists`, {
      hint: `Give an absolute path, or change directory with ${toolName("Bash")}: cd /somewhere`,
      details: { cwd: this.#cwd },
    });
  }

  async #existing(place: ResolvedPath): Promise<ResolvedPath> {
    if (place.missing.length === 0) return place;
    const { folder, name } = this.parentOf(place);
    const mayLook = place.missing.length === 1 && this.#limits.allows(folder);
    const existing = shownName(this.existingPart(place));
    throw await notFound(
      {
        ...{ shown: place.shown, existing, name },
        folder: mayLook ? folder : undefined,
        openFolder: (one) => this.openFolder(one, place.shown),
        maySee: (other) => !this.isClosed(this.platform.path.join(folder, other)),
      },
      this.platform.path.join,
    );
  }
}

/** Writing does not replace an existing folder, but would put a file where a folder does not exist yet, or replace a link itself. */
function useOf(intent: Intent, { missing }: Canonical, isEntry: boolean): Use {
  if (intent === "read") return "look";
  if (intent === "remove" || (intent === "write" && (missing.length > 0 || isEntry))) return "replace";
  return "change";
}
