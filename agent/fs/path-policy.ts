/** Folders that policies and a grant allow: a path must be in one of each. */
import { statSync } from "node:fs";
import { toolError } from "@matrx/shared/errors.ts";
import type { FolderLimit } from "../core/gate.ts";
import { absolutePath, isAbsolute, isWithin } from "../platform/path-syntax.ts";
import type { Platform } from "../platform/platform.ts";
import { canonicalOf } from "./resolve.ts";

interface Limit extends FolderLimit {
  readonly roots: readonly string[];
}

export class FolderLimits {
  readonly #platform: Platform;
  readonly #limits: readonly Limit[];

  private constructor(platform: Platform, limits: readonly Limit[]) {
    this.#platform = platform;
    this.#limits = limits;
  }

  static async lookUp(written: readonly FolderLimit[], platform: Platform): Promise<FolderLimits> {
    const limits: Limit[] = [];
    for (const limit of written) limits.push({ ...limit, roots: await rootsOf(limit.folders, platform) });
    return new FolderLimits(platform, limits);
  }

  /** The folders of each limit, as canonical paths. */
  get roots(): readonly (readonly string[])[] {
    return this.#limits.map(({ roots }) => roots);
  }

  allows(canonical: string): boolean {
    return this.#refusing(canonical) === undefined;
  }

  /** Throws MatrxError `PERMISSION_DENIED`. */
  check(canonical: string, shown: string): void {
    const limit = this.#refusing(canonical);
    if (!limit) return;
    const allowed = limit.folders.slice(0, 8).join(", ");
    throw toolError("PERMISSION_DENIED", `Access to ${shown} is not allowed by ${limit.by}`, {
      hint: allowed ? `Allowed: ${allowed}` : "No folder is allowed; ask the owner to allow one",
      details: { path: shown, allowed_paths: limit.folders.slice(0, 64) },
    });
  }

  #refusing(canonical: string): Limit | undefined {
    return this.#limits.find(({ roots }) => !roots.some((root) => liesIn(canonical, root, this.#platform)));
  }
}

/**
 * Another spelling of the root counts only if it is the same folder: a volume may be case-sensitive on a system that
 * usually is not.
 */
function liesIn(canonical: string, root: string, platform: Platform): boolean {
  const { sep } = platform.path;
  if (canonical === root || canonical.startsWith(root.endsWith(sep) ? root : root + sep)) return true;
  if (!isWithin(canonical, root, platform)) return false;
  return same(canonical.split(sep).slice(0, root.split(sep).length).join(sep), root);
}

function same(one: string, other: string): boolean {
  const a = statSync(one, { bigint: true, throwIfNoEntry: false });
  const b = statSync(other, { bigint: true, throwIfNoEntry: false });
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
}

/** A folder that is not absolute, or has another system's syntax, allows nothing here. */
async function rootsOf(written: readonly string[], platform: Platform): Promise<string[]> {
  const roots: string[] = [];
  for (const folder of written) {
    if (!isAbsolute(folder, platform) || platform.objectionTo(folder)) continue;
    try {
      roots.push((await canonicalOf(absolutePath(folder, "/", platform), platform)).path);
    } catch {
      // A folder that cannot be resolved allows nothing.
    }
  }
  return roots;
}
