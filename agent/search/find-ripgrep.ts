/** Which `rg` is used: the package's, else one on the PATH. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

export interface Ripgrep {
  readonly file: string;
  readonly from: "package" | "path";
  readonly version: string;
}

/** Where it may be. Given in tests. */
export interface RipgrepPlaces {
  /** Undefined, or an error: not there. */
  fromPackage(): Promise<string | undefined>;
  onPath(): string | undefined;
}

/** Older ones lack options that are needed. */
const OLDEST = 13;

export const usualPlaces: RipgrepPlaces = {
  // Imported late: the package throws where it has no binary for the platform.
  fromPackage: async () => (await import("@vscode/ripgrep")).rgPath,
  onPath() {
    const name = process.platform === "win32" ? "rg.exe" : "rg";
    const folders = (process.env.PATH ?? "")
      .split(path.delimiter)
      .filter((folder) => path.isAbsolute(folder));
    return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
  },
};

/** Undefined: there is none that runs. */
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
