/** Names in paths, as the system of a machine reads them: `\` separates them on Windows alone. */
import { posix, win32 } from "node:path";

export interface PathNames {
  /** The last one of a path. */
  nameOf(path: string): string;
  join(folder: string, name: string): string;
  /** Whether a path is absolute, or begins at the home folder. */
  isFull(path: string): boolean;
  /** Whether a path ends like one of a folder. */
  endsLikeFolder(path: string): boolean;
  /** Whether a file can have this name, which may come from another machine: it must not lead elsewhere. */
  isName(name: string): boolean;
}

export const POSIX_NAMES: PathNames = {
  nameOf: (path) => posix.basename(path),
  join: (folder, name) => `${folder.replace(/\/$/, "")}/${name}`,
  isFull: (path) => /^[~/]/.test(path),
  endsLikeFolder: (path) => path.endsWith("/"),
  isName: (name) => !/^\.{0,2}$|[/\0]/.test(name),
};

/** Names of devices; they are taken in every folder, whatever the extension. */
const TAKEN = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

export const WINDOWS_NAMES: PathNames = {
  nameOf: (path) => win32.basename(path),
  join: (folder, name) => `${folder.replace(/[\\/]$/, "")}${folder.includes("\\") ? "\\" : "/"}${name}`,
  isFull: (path) => /^(?:[~\\/]|[A-Za-z]:)/.test(path),
  endsLikeFolder: (path) => /[\\/]$/.test(path),
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a name has none of them there
  isName: (name) => !/^$|[<>:"/\\|?*\x00-\x1f]|[. ]$/.test(name) && !TAKEN.test(name),
};

/** `os` as a device says it; null if it is not known. */
export function namesOf(os: string | null): PathNames {
  return os === "Windows" ? WINDOWS_NAMES : POSIX_NAMES;
}

export const OWN_NAMES = process.platform === "win32" ? WINDOWS_NAMES : POSIX_NAMES;
