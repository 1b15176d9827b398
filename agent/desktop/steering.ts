/**
 * Whether a caller may change what a desktop does when something is opened: programs outside the sandbox that it wrote, or
 * that read what it wrote. Looked up as the caller's rights and the disk are at the time.
 */
import { accessSync, constants, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import type { FileAccess } from "../fs/access.ts";
import { linkChain } from "../fs/link-chain.ts";
import { isWithin } from "../platform/path-syntax.ts";

/** A desktop entry, or a service of D-Bus, is short. */
const ENTRY_BYTES = 64 * 1024;

/** The first of the places, or of what they name, that the caller may change; undefined: it may change none. */
export function steeredPlace(
  access: FileAccess,
  places: readonly string[],
  home: string,
): string | undefined {
  const look = new Look(access, home);
  for (const place of new Set(places)) {
    const found = look.at(place);
    if (found !== undefined) return found;
  }
  return undefined;
}

class Look {
  readonly #access: FileAccess;
  readonly #homes: readonly string[];

  constructor(access: FileAccess, home: string) {
    this.#access = access;
    this.#homes = [home, realPathOf(home)];
  }

  /** What may be changed on the way to a place, at it, or in it. */
  at(place: string): string | undefined {
    return this.#onTheWayTo(place) ?? this.#inside(place);
  }

  #onTheWayTo(place: string): string | undefined {
    const { platform } = this.#access;
    for (const { path: entry, rest } of linkChain(place, platform)) {
      // A home folder, and what is above it, are moved by nobody: Matrx's own files and others that are closed are in it.
      if (this.#homes.some((home) => isWithin(home, entry, platform))) continue;
      if (rest.length > 0 ? this.#mayReplace(entry) : this.#mayChange(entry)) return entry;
    }
    return undefined;
  }

  #inside(place: string): string | undefined {
    const { path } = this.#access.platform;
    const [granted] = this.#access.grantedInside(realPathOf(place)).filter((one) => this.#mayChange(one));
    if (granted !== undefined) return granted;
    for (const name of namesIn(place)) {
      const entry = path.join(place, name);
      const real = realPathOf(entry);
      if (this.#mayChange(real)) return real;
      if (!/\.(?:desktop|service)$/.test(name)) continue;
      const program = programsIn(real).find((one) => this.#mayChange(realPathOf(one)));
      if (program !== undefined) return program;
    }
    return undefined;
  }

  /** Both the caller by its rights and this program by the system's. */
  #mayChange(canonical: string): boolean {
    return this.#access.mayChangeCanonical(canonical) && [canonical, this.#above(canonical)].some(isWritable);
  }

  /** Put another entry in its place: that changes its folder. */
  #mayReplace(canonical: string): boolean {
    const folder = this.#above(canonical);
    return [canonical, folder].every((one) => this.#access.mayChangeCanonical(one)) && isWritable(folder);
  }

  #above(canonical: string): string {
    return this.#access.platform.path.dirname(canonical);
  }
}

/** Absolute paths in the lines that say what is started. */
function programsIn(entry: string): string[] {
  try {
    if (statSync(entry).size > ENTRY_BYTES) return [];
    const lines = readFileSync(entry, "utf8").match(/^(?:Try)?Exec\s*=.*$/gm) ?? [];
    return lines.flatMap((line) =>
      [...line.matchAll(/"(\/[^"]+)"|(?<=[\s='])(\/[^\s"'%]+)/g)].map(
        ([, quoted, plain]) => quoted ?? plain ?? "",
      ),
    );
  } catch {
    return [];
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** What does not exist is created where its path says. */
function realPathOf(entry: string): string {
  try {
    return realpathSync.native(entry);
  } catch {
    return entry;
  }
}

function isWritable(entry: string): boolean {
  try {
    accessSync(entry, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
