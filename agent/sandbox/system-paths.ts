/** What programs need to run on Linux: the system's own files, and the folders of tools on the PATH. */
import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { isBelow, isIn } from "./paths.ts";

/** Folders of programs and libraries; links on systems that keep them all in `/usr`. */
const TOP_FOLDERS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Large folders of programs, and settings without secrets that they read. */
const FOLDERS = ["/usr", "/nix/store", "/gnu/store"];
const SETTINGS = (
  "alternatives ca-certificates crypto-policies fonts group hosts java ld.so.cache ld.so.conf ld.so.conf.d localtime " +
  "login.defs magic mime.types nsswitch.conf openssl os-release passwd pki profile.d protocols services shells ssl " +
  "terminfo timezone"
)
  .split(" ")
  .map((name) => `/etc/${name}`);

export interface SystemPaths {
  readonly folders: readonly string[];
  /** Links that lead into them, such as `/bin`, and where they lead. */
  readonly links: readonly (readonly [link: string, target: string])[];
}

let known: SystemPaths | undefined;

/** Looked up once: an upgrade of the system does not change them. */
export function systemPaths(): SystemPaths {
  known ??= lookUp();
  return known;
}

function lookUp(): SystemPaths {
  const present = TOP_FOLDERS.filter(existsSync);
  const isLink = (folder: string) => lstatSync(folder).isSymbolicLink();
  return {
    folders: [...FOLDERS, ...present.filter((folder) => !isLink(folder)), ...SETTINGS].filter(existsSync),
    links: present.filter(isLink).map((link) => [link, readlinkSync(link)]),
  };
}

/**
 * The folders of tools that the PATH names, such as a Node under `/opt`: `bin` itself, or the whole installation above it.
 * Never a home folder, nor one that contains one of `kept`.
 */
export function toolFolders(searchPath: string, kept: readonly string[]): string[] {
  const folders = searchPath.split(":").flatMap((entry) => {
    const bin = path.posix.isAbsolute(entry) ? realFolder(entry) : undefined;
    if (bin === undefined || isSystem(bin)) return [];
    const above = path.posix.dirname(bin);
    const isInstallation =
      path.posix.basename(bin) === "bin" &&
      ["lib", "libexec", "lib64"].some((name) => realFolder(path.posix.join(above, name)) !== undefined);
    const mayBind = (folder: string) => folder !== "/" && !kept.some((one) => isIn(one, folder));
    return [...(isInstallation ? [above] : []), bin].filter(mayBind).slice(0, 1);
  });
  return [...new Set(folders)];
}

function isSystem(folder: string): boolean {
  return [...FOLDERS, ...TOP_FOLDERS].some((one) => isIn(folder, one)) || isBelow(folder, "/proc");
}

function realFolder(folder: string): string | undefined {
  try {
    const real = realpathSync(folder);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}
