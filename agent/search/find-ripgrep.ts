/** Finds ripgrep: the package's, else the system's. The PATH may lead into folders of callers, for whom it runs too. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { currentPlatform } from "../platform/current.ts";
import { bareEnvironment } from "../platform/environment.ts";
import { findProgram, ROOT } from "../platform/run-program.ts";

export interface Ripgrep {
  readonly file: string;
  readonly from: "package" | "system";
  readonly version: string;
}

/** Where it may be. */
export interface RipgrepPlaces {
  /** Undefined, or rejects, if it is not there. */
  fromPackage(): Promise<string | undefined>;
  ofSystem(): string | undefined;
}

/** Older versions lack options that we need. */
const OLDEST = 13;

export const usualPlaces: RipgrepPlaces = {
  // Imported late: the package throws where it has no binary for the platform.
  fromPackage: async () => (await import("@vscode/ripgrep")).rgPath,
  ofSystem: () =>
    findProgram(process.platform === "win32" ? "rg.exe" : "rg", {
      PATH: currentPlatform().systemPath(process.env),
    }),
};

/** Undefined if there is none that runs. */
export async function findRipgrep(places: RipgrepPlaces = usualPlaces): Promise<Ripgrep | undefined> {
  const bundled = await places.fromPackage().catch(() => undefined);
  return (await tried(bundled, "package")) ?? (await tried(places.ofSystem(), "system"));
}

async function tried(file: string | undefined, from: Ripgrep["from"]): Promise<Ripgrep | undefined> {
  if (file === undefined) return undefined;
  try {
    const options = { cwd: ROOT, env: bareEnvironment(), timeout: 5000, windowsHide: true };
    const { stdout } = await promisify(execFile)(file, ["--version"], options);
    const version = /^ripgrep (\d+)(\S*)/.exec(stdout);
    return version && Number(version[1]) >= OLDEST
      ? { file, from, version: `${version[1]}${version[2]}` }
      : undefined;
  } catch {
    return undefined;
  }
}
