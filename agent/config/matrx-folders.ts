/** Everything on this machine that belongs to Matrx, wherever it was started from: no tool may touch it. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, sep } from "node:path";
import type { ProtectedPaths } from "../fs/protected-paths.ts";
import { currentPlatform } from "../platform/current.ts";
import { isWithin } from "../platform/path-syntax.ts";
import type { Platform } from "../platform/platform.ts";
import { defaultFolders, type Home, type HomeFolders, homeOf } from "./app-dirs.ts";
import { FolderRegistry, type RegisteredFolder } from "./folder-registry.ts";
import { CLONE_FOLDER, PACKAGE_FOLDER } from "./program.ts";

/** How long the list of other users is kept, in milliseconds. */
const OTHERS_KNOWN_MS = 10_000;

export class MatrxFolders {
  readonly #platform: Platform;
  readonly #closed: readonly string[];
  readonly #program: readonly string[];
  readonly #registry: FolderRegistry;
  readonly #users = new Map<string, OtherUser>();
  #others: readonly OtherUser[] = [];
  #othersUntil = Number.NEGATIVE_INFINITY;

  constructor(home: Home, env: NodeJS.ProcessEnv = process.env, platform: Platform = currentPlatform()) {
    const program = CLONE_FOLDER ?? programFolder(PACKAGE_FOLDER);
    this.#platform = platform;
    this.#closed = [
      ...foldersOf(home),
      // The command line may keep its credentials there, even if this program keeps its files elsewhere.
      ...foldersOf(homeOf({ ...env, MATRX_HOME: undefined })),
      ...foldersOf(defaultFolders(homedir(), platform.name)),
      ...namedIn(env),
      join(program, ".matrx"),
    ];
    this.#program = [program, join(program, "node_modules"), process.execPath];
    this.#registry = ownRegistry(platform);
  }

  /** The protected paths, as of now. */
  current(): ProtectedPaths {
    this.#lookForOthers();
    const registered = [...this.#registry.list(), ...this.#others.flatMap((other) => other.registered())];
    const of = (kind: RegisteredFolder["kind"]) =>
      registered.filter((entry) => entry.kind === kind).map(({ folder }) => folder);
    const closed = [...this.#closed, ...this.#others.flatMap((other) => other.folders()), ...of("data")];
    return { closed: [...new Set(closed)], program: [...new Set([...this.#program, ...of("program")])] };
  }

  #lookForOthers(): void {
    const now = performance.now();
    if (now < this.#othersUntil) return;
    this.#othersUntil = now + OTHERS_KNOWN_MS;
    this.#others = this.#platform.otherHomes().flatMap((home) => {
      const user = this.#users.get(home) ?? new OtherUser(home, this.#platform);
      this.#users.set(home, user);
      return user.hasFolder() ? [user] : [];
    });
  }
}

/** Another user of this machine, whose files this program could read. */
class OtherUser {
  readonly #home: string;
  readonly #platform: Platform;
  readonly #folders: readonly string[];
  readonly #registry: FolderRegistry;

  constructor(home: string, platform: Platform) {
    this.#home = home;
    this.#platform = platform;
    this.#folders = foldersOf(defaultFolders(home, platform.name));
    this.#registry = new FolderRegistry(registryPath(home, platform));
  }

  hasFolder(): boolean {
    return this.#folders.some((folder) => existsSync(folder));
  }

  /** The usual folders, except links that lead to another user's files. */
  folders(): string[] {
    return this.#folders.filter((folder) => !this.#leadsToOthers(folder));
  }

  #leadsToOthers(folder: string): boolean {
    try {
      const real = realpathSync.native(folder);
      const leadsOut = !isWithin(real, realpathSync.native(this.#home), this.#platform);
      return leadsOut && ownerOf(real) !== ownerOf(this.#home);
    } catch {
      return false;
    }
  }

  /** Only folders that belong to the user who registered them: nobody can close another user's folders. */
  registered(): RegisteredFolder[] {
    return this.#registry.list().filter(({ folder, user }) => ownerOf(folder) === user);
  }
}

/** The registry of this user's folders: the same for all programs, whatever their environment says. */
export function ownRegistry(platform: Platform = currentPlatform()): FolderRegistry {
  return new FolderRegistry(registryPath(homedir(), platform));
}

/** Registers a home, unless it is in a known location. Throws MatrxError. */
export function noteHome(home: HomeFolders, env: NodeJS.ProcessEnv = process.env): void {
  const platform = currentPlatform();
  const known = [...foldersOf(defaultFolders(homedir(), platform.name)), ...namedIn(env)];
  const isKnown = (folder: string) => known.some((parent) => isWithin(folder, parent, platform));
  const unknown = [home.config, home.state].filter((folder) => !isKnown(folder));
  for (const folder of new Set(unknown)) ownRegistry(platform).add({ folder, kind: "data" });
}

/** The folders that `npm start` names to its agent. */
function namedIn({ MATRX_PROTECTED }: NodeJS.ProcessEnv): string[] {
  return MATRX_PROTECTED?.split(delimiter).filter((path) => path !== "") ?? [];
}

function registryPath(home: string, platform: Platform): string {
  return join(defaultFolders(home, platform.name).state, "folders");
}

function foldersOf({ config, state, logs }: HomeFolders): string[] {
  return [...new Set([config, state, logs])];
}

/** The `node_modules` folder that this package is installed in; without one, the folder above it. */
export function programFolder(agent: string): string {
  const packages = `${sep}node_modules${sep}`;
  const at = agent.indexOf(packages);
  return at < 0 ? dirname(agent) : agent.slice(0, at + packages.length - 1);
}

function ownerOf(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined;
  }
}
