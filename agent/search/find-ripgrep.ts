/** Finds ripgrep: the package's, else one on the PATH. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findProgram } from "../platform/run-program.ts";

export interface Ripgrep {
  readonly file: string;
  readonly from: "package" | "path";
  readonly version: string;
}

/** Where it may be. */
export interface RipgrepPlaces {
  /** Undefined, or rejects, if it is not there. */
  fromPackage(): Promise<string | undefined>;
  onPath(): string | undefined;
}

/** Older versions lack options that we need. */
const OLDEST = 13;

export const usualPlaces: RipgrepPlaces = {
  // Imported late: the package throws where it has no binary for the platform.
  fromPackage: async () => (await import("@vscode/ripgrep")).rgPath,
  onPath: () => findProgram(process.platform === "win32" ? "rg.exe" : "rg", process.env),
};

/** Undefined if there is none that runs. */
export async function findRipgrep(places: RipgrepPlaces = usualPlaces): Promise<Ripgrep | undefined> {
  const bundled = await places.fromPackage().catch(() => undefined);
  return (await tried(bundled, "package")) ?? (await tried(places.onPath(), "path"));
}

async function tried(file: string | undefined, from: Ripgrep["from"]): Promise<Ripgrep | undefined> {
  if (file === undefined) return undefined;
  try {
    const { stdout } = await promisify(execFile)(file, ["--version"], { timeout: 5000, windowsHide: true });
    const version = /^ripgrep (\d+)(\S*)/.exec(stdout);
    return version && Number(version[1]) >= OLDEST
      ? { file, from, version: `${version[1]}${version[2]}` }
      : undefined;
  } catch {
    return undefined;
  }
}
