/** The only way in which tools touch the file system: under the protected set, the policy and the grant. */
import type { BigIntStats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { nearestName } from "@matrx/shared/effects.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { currentPlatform } from "../platform/current.ts";
import type { Directory } from "../platform/directory.ts";
import type { Platform } from "../platform/platform.ts";
import { type Canonical, canonicalOf } from "./canonical.ts";
import { explained, fileError } from "./errors.ts";
import { FolderLimits } from "./folder-limits.ts";
import { ProtectedSet } from "./protected.ts";
import { absolutePath, isAbsolute } from "./spelling.ts";
import { Turns } from "./turns.ts";

/** `folder`: making one, where nothing stands. `remove`: deleting, moving or replacing what stands there. */
export type Intent = "read" | "write" | "folder" | "remove";

/** What decides about a call's paths; a tool's context is one. */
export interface Caller {
  readonly session: { readonly cwd: string };
  readonly grant: GrantScope;
  readonly policy: Policy;
  readonly relayPolicy: Policy | undefined;
}

/** A path that was allowed. */
export interface Place extends Canonical {
  /** As the caller named it, made absolute: for messages. */
  readonly shown: string;
}

export interface FilesOptions {
  /** Absolute paths of what belongs to Matrx itself; they need not exist yet. */
  readonly protectedPaths: readonly string[];
  readonly platform?: Platform;
}

export class Files {
  readonly platform: Platform;
  /** By canonical path; every tool that changes a file takes its turn here. */
  readonly turns = new Turns();
  readonly #protectedPaths: readonly string[];

  constructor({ protectedPaths, platform = currentPlatform() }: FilesOptions) {
    this.platform = platform;
    this.#protectedPaths = protectedPaths;
  }

  /** The file system as one call may see it, at this moment. */
  async as(caller: Caller): Promise<FileAccess> {
    const [closed, limits] = await Promise.all([
      ProtectedSet.lookUp(this.#protectedPaths, this.platform),
      FolderLimits.lookUp(caller, this.platform),
    ]);
    return new FileAccess(this.platform, caller.session.cwd, closed, limits);
  }
}

export class FileAccess {
  readonly platform: Platform;
  readonly #cwd: string;
  readonly #closed: ProtectedSet;
  readonly #limits: FolderLimits;

  constructor(platform: Platform, cwd: string, closed: ProtectedSet, limits: FolderLimits) {
    this.platform = platform;
    this.#cwd = cwd;
    this.#closed = closed;
    this.#limits = limits;
  }

  /** Follows a path and asks whether it may be touched. Throws MatrxError. */
  async find(text: string, intent: Intent): Promise<Place> {
    const shown = absolutePath(text, this.#cwd, this.platform);
    const canonical = await this.#follow(shown);
    this.#limits.check(canonical.path, shown);
    // A folder that exists is not replaced by writing; one that does not exist yet would be by a file.
    const replaces = intent === "remove" || (intent === "write" && canonical.missing.length > 0);
    this.#closed.check(canonical.path, shown, { replaces });
    const inCwd = !isAbsolute(text, this.platform);
    if (inCwd && canonical.missing.length > 0) await this.#checkCwd();
    return { ...canonical, shown };
  }

  /** As `find`, and it must exist: else the error names what is spelled alike. */
  async findExisting(text: string, intent: Intent): Promise<Place> {
    const place = await this.find(text, intent);
    if (place.missing.length > 0) throw await this.#notFound(place);
    return place;
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

  /** Opens a folder by its canonical path. Close it. Throws MatrxError. */
  openFolder(folder: string, shown: string): Promise<Directory> {
    return explained(shown, "open", () =>
      this.platform.openDirectory(folder, (stat) => this.#closed.inspect(stat, shown)),
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
  async isReachedByLink({ shown, path }: Place): Promise<boolean> {
    if (shown === path) return false;
    return (await lstat(shown).catch(() => undefined))?.isSymbolicLink() ?? false;
  }

  /** Throws MatrxError `PERMISSION_DENIED` when this very file is protected under another name. */
  inspect(stat: BigIntStats, shown: string): void {
    this.#closed.inspect(stat, shown);
  }

  async #follow(shown: string): Promise<Canonical> {
    try {
      return await canonicalOf(shown, this.platform, (folder) => this.#limits.allows(folder));
    } catch (error) {
      // Outside the allowed folders nothing is said about what stands there.
      this.#limits.check(shown, shown);
      throw fileError(error, shown, "follow");
    }
  }

  async #checkCwd(): Promise<void> {
    const cwd = await canonicalOf(this.#cwd, this.platform).catch(() => undefined);
    if (cwd?.missing.length === 0) return;
    throw new MatrxError({
      code: "NOT_FOUND",
      message: `The session's working directory ${this.#cwd} does not exist any more`,
      hint: "Give an absolute path, or go elsewhere with Bash: cd /somewhere",
      hop: "tool",
      details: { cwd: this.#cwd },
    });
  }

  async #notFound(place: Place): Promise<MatrxError> {
    const { folder, name } = this.parentOf(place);
    const parentMissing = place.missing.length > 1;
    const alike = parentMissing || !this.#limits.allows(folder) ? [] : await namesLike(folder, name);
    const suggestions = alike.map((other) => this.platform.path.join(folder, other));
    return new MatrxError({
      code: "NOT_FOUND",
      message: `${place.shown} does not exist${suggestions.length ? `. Did you mean ${suggestions.join(" or ")}?` : ""}`,
      hint: parentMissing
        ? `Only ${this.existingPart(place)} exists of it; look there with ListDirectory`
        : "Look with ListDirectory",
      hop: "tool",
      details: { path: place.shown, ...(suggestions.length && { suggestions }) },
    });
  }
}

const MOST_SUGGESTIONS = 3;
const MOST_NAMES = 5000;

async function namesLike(folder: string, name: string): Promise<string[]> {
  const names = new Set((await readdir(folder).catch(() => [])).slice(0, MOST_NAMES));
  const found: string[] = [];
  while (found.length < MOST_SUGGESTIONS) {
    const next = nearestName(name, names);
    if (next === undefined) break;
    found.push(next);
    names.delete(next);
  }
  return found;
}
