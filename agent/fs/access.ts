/** The only way in which tools touch the file system: under the protected set and the call's rights. */

import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { Caller, Intent, PathNeed, Rights } from "../core/gate.ts";
import { toolName } from "../core/tool-names.ts";
import { currentPlatform } from "../platform/current.ts";
import type { Directory } from "../platform/directory.ts";
import type { Platform } from "../platform/platform.ts";
import { shownName } from "./display-name.ts";
import { explained, fileError } from "./errors.ts";
import { KeyedMutex } from "./keyed-mutex.ts";
import { linkChain } from "./link-chain.ts";
import { notFound } from "./not-found.ts";
import { FolderLimits } from "./path-policy.ts";
import { absolutePath, isAbsolute } from "./path-syntax.ts";
import { newProtectedFiles, type ProtectedPaths, ProtectedSet, type Use } from "./protected-paths.ts";
import { type Canonical, canonicalEntryOf, canonicalOf } from "./resolve.ts";

/** A path that was allowed. */
export interface ResolvedPath extends Canonical {
  /** As the caller named it, made absolute. */
  readonly named: string;
  /** The same for messages: on one line, with nothing hidden in it. */
  readonly shown: string;
}

export interface FilesOptions {
  /** What belongs to Matrx itself, as things stand when it is called. */
  readonly protectedPaths: () => ProtectedPaths;
  readonly platform?: Platform;
}

export class Files {
  readonly platform: Platform;
  /** By canonical path; every tool that changes a file takes its turn here. */
  readonly mutex = new KeyedMutex();
  readonly protectedPaths: () => ProtectedPaths;
  readonly #protectedFiles = newProtectedFiles();
  readonly #accesses = new WeakMap<Rights, Promise<FileAccess>>();

  constructor({ protectedPaths, platform = currentPlatform() }: FilesOptions) {
    this.platform = platform;
    this.protectedPaths = protectedPaths;
  }

  /** The file system as one call may see it, from when it was first asked. */
  as(caller: Caller): Promise<FileAccess> {
    let access = this.#accesses.get(caller.rights);
    if (!access) {
      access = this.#lookUp(caller);
      this.#accesses.set(caller.rights, access);
    }
    return access;
  }

  /** Asks of each path whether it may be touched, and nothing else: what stands there is the tool's to say. Throws MatrxError `PERMISSION_DENIED`. */
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

  async #lookUp({ session, rights }: Caller): Promise<FileAccess> {
    const limits = await FolderLimits.lookUp(rights.folderLimits, this.platform);
    const { closed, program } = this.protectedPaths();
    // Who may run any program changes this one too, whatever file tools say.
    const paths = { closed, program: rights.mayRunAnyProgram ? [] : program };
    const protectedSet = new ProtectedSet(paths, this.platform, this.#protectedFiles);
    return new FileAccess(this.platform, session.cwd, protectedSet, limits);
  }
}

export class FileAccess {
  readonly platform: Platform;
  readonly #cwd: string;
  readonly #protected: ProtectedSet;
  readonly #limits: FolderLimits;

  constructor(platform: Platform, cwd: string, protectedSet: ProtectedSet, limits: FolderLimits) {
    this.platform = platform;
    this.#cwd = cwd;
    this.#protected = protectedSet;
    this.#limits = limits;
  }

  /** Follows a path and asks whether it may be touched. Throws MatrxError. */
  find(text: string, intent: Intent): Promise<ResolvedPath> {
    return this.#find(text, intent, canonicalOf);
  }

  /** As `find`, but a link at the end of the path is meant itself, and not what it leads to. */
  findEntry(text: string, intent: Intent): Promise<ResolvedPath> {
    return this.#find(text, intent, canonicalEntryOf);
  }

  async #find(text: string, intent: Intent, follow: typeof canonicalOf): Promise<ResolvedPath> {
    const named = absolutePath(text, this.#cwd, this.platform);
    const shown = shownName(named);
    const canonical = await this.#follow(named, shown, follow);
    this.#limits.check(canonical.path, shown);
    // To remove an entry is to change the folder that holds it.
    if (intent === "remove") this.#limits.check(this.parentOf(canonical).folder, `the folder of ${shown}`);
    this.#protected.check(canonical.path, shown, useOf(intent, canonical, follow === canonicalEntryOf));
    const inCwd = !isAbsolute(text, this.platform);
    if (inCwd && canonical.missing.length > 0) await this.#checkCwd();
    return { ...canonical, named, shown };
  }

  /** As `find`, and it must exist: else the error names what is spelled alike. */
  async findExisting(text: string, intent: Intent): Promise<ResolvedPath> {
    return await this.#existing(await this.find(text, intent));
  }

  /** As `findExisting`, for what another program will open by this path: it is not a protected file under another name. */
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

  /** Tells whether what stands at a path, or where it leads, may be read. */
  async mayRead(path: string): Promise<boolean> {
    try {
      await this.find(path, "read");
      return true;
    } catch (error) {
      return !(error instanceof MatrxError && error.code === "PERMISSION_DENIED");
    }
  }

  /** Throws MatrxError `PERMISSION_DENIED` unless a path that is free of links may be read. Nothing is looked up. */
  checkCanonical(canonical: string): void {
    this.#limits.check(canonical, canonical);
    this.#protected.check(canonical, canonical, "look");
  }

  /** What is closed to all tools inside a folder, so that a search need not even look there. */
  closedInside(folder: string): string[] {
    return this.#protected.inside(folder);
  }

  /** Opens a folder by its canonical path. Close it. Throws MatrxError. */
  openFolder(folder: string, shown: string): Promise<Directory> {
    return explained(shown, "open", () =>
      this.platform.openDirectory(folder, (stat) => this.#protected.inspect(stat, shown)),
    );
  }

  /** The canonical path of the last folder of a place that exists. */
  existingPart(place: Canonical): string {
    return this.platform.path.resolve(place.path, ...place.missing.map(() => ".."));
  }

  parentOf(place: Canonical): { folder: string; name: string } {
    const { path } = this.platform;
    return { folder: path.dirname(place.path), name: path.basename(place.path) };
  }

  /** Tells whether the caller named a link, and not what it leads to. */
  async isReachedByLink({ named, path }: ResolvedPath): Promise<boolean> {
    if (named === path) return false;
    return (await lstat(named).catch(() => undefined))?.isSymbolicLink() ?? false;
  }

  /** Throws MatrxError `PERMISSION_DENIED` when this very file is protected under another name. */
  inspect(stat: BigIntStats, shown: string): void {
    this.#protected.inspect(stat, shown);
  }

  /** As `inspect`, of a file that is to be changed. */
  inspectChange(stat: BigIntStats, shown: string): void {
    this.#protected.inspectChange(stat, shown);
  }

  async #follow(named: string, shown: string, follow: typeof canonicalOf): Promise<Canonical> {
    try {
      return await follow(named, this.platform, (folder) => this.#limits.allows(folder));
    } catch (error) {
      // Outside the allowed folders, and of what is protected, nothing is said about what stands there.
      this.#limits.check(named, shown);
      const place = [...linkChain(named, this.platform)].at(-1)?.place ?? named;
      this.#limits.check(place, shown);
      this.#protected.check(place, shown, "look");
      throw fileError(error, shown, "follow");
    }
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
      { shown: place.shown, existing, folder: mayLook ? folder : undefined, name },
      this.platform.path.join,
    );
  }
}

/** A folder that exists is not replaced by writing; one that does not exist yet would be by a file, and a link itself. */
function useOf(intent: Intent, { missing }: Canonical, isEntry: boolean): Use {
  if (intent === "read") return "look";
  if (intent === "remove" || (intent === "write" && (missing.length > 0 || isEntry))) return "replace";
  return "change";
}
