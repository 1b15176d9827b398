/** All files and folders of Matrx on this machine, wherever it was started from: no tool may touch them. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, sep } from "node:path";
import { isWithin } from "../fs/path-syntax.ts";
import type { ProtectedPaths } from "../fs/protected-paths.ts";
import { currentPlatform } from "../platform/current.ts";
import type { Platform } from "../platform/platform.ts";
import { defaultPlaces, type Home, homeOf, type Places } from "./app-dirs.ts";
import { FolderRegistry, type RegisteredFolder } from "./folder-registry.ts";
import { PACKAGE_FOLDER } from "./program.ts";

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
    const program = programFolder(PACKAGE_FOLDER);
    this.#platform = platform;
    this.#closed = [
      ...foldersOf(home),
      // The command line's credentials are there even if `MATRX_HOME` names another folder.
      ...foldersOf(homeOf({ ...env, MATRX_HOME: undefined })),
      ...foldersOf(defaultPlaces(homedir(), platform.name)),
      ...namedIn(env),
      join(program, ".matrx"),
    ];
    this.#program = [program, join(program, "node_modules"), process.execPath];
    this.#registry = ownRegistry(platform);
  }

  /** As of now. */
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
    this.#folders = foldersOf(defaultPlaces(home, platform.name));
    this.#registry = new FolderRegistry(registryPlace(home, platform));
  }

  hasFolder(): boolean {
    return this.#folders.some((folder) => existsSync(folder));
  }

  /** The usual folders, except links that lead to something of another user. */
  folders(): string[] {
    return this.#folders.filter((folder) => !this.#leadsToOthers(folder));
  }

  #leadsToOthers(folder: string): boolean {
    try {
      const real = realpathSync(folder);
      const leadsOut = !isWithin(real, realpathSync(this.#home), this.#platform);
      return leadsOut && ownerOf(real) !== ownerOf(this.#home);
    } catch {
      return false;
    }
  }

  /** Only folders that belong to the user who registered them: no one can close another's. */
  registered(): RegisteredFolder[] {
    return this.#registry.list().filter(({ folder, user }) => ownerOf(folder) === user);
  }
}

/** The registry of this user, the same for all programs whatever their environment. */
export function ownRegistry(platform: Platform = currentPlatform()): FolderRegistry {
  return new FolderRegistry(registryPlace(homedir(), platform));
}

/** Registers a home, unless it is at its usual place. Throws MatrxError. */
export function noteHome(home: Places, env: NodeJS.ProcessEnv = process.env): void {
  const platform = currentPlatform();
  const known = [...foldersOf(defaultPlaces(homedir(), platform.name)), ...namedIn(env)];
  const isKnown = (folder: string) => known.some((place) => isWithin(folder, place, platform));
  const unknown = [home.config, home.state].filter((folder) => !isKnown(folder));
  for (const folder of new Set(unknown)) ownRegistry(platform).add({ folder, kind: "data" });
}

/** The data folders that `npm start` passes to its agent. */
function namedIn({ MATRX_PROTECTED }: NodeJS.ProcessEnv): string[] {
  return MATRX_PROTECTED?.split(delimiter).filter((path) => path !== "") ?? [];
}

function registryPlace(home: string, platform: Platform): string {
  return join(defaultPlaces(home, platform.name).state, "folders");
}

function foldersOf({ config, state, logs }: Places): string[] {
  return [...new Set([config, state, logs])];
}

/** The `node_modules` folder that this package is installed in; in a clone, the whole clone. */
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
