/**
 * Folders in which git finds a repository though they are not called `.git`: whoever runs git in one, or below it, runs the
 * programs that its `config` and `hooks` name.
 */
import type { Platform } from "../platform/platform.ts";
import { entryStat } from "./entry-stat.ts";

/** Every repository has it, and hardly another folder does: without it, the rest is no repository. */
const HEAD = "HEAD";
const PARTS = ["config", "objects", "refs", "commondir"];

/** Whether a path is, or lies in, a repository, or would be the file that makes one. Looks at the disk. */
export function isGitFolder(path: string, platform: Platform): boolean {
  if (isHead(path, platform)) return true;
  for (let folder = platform.path.dirname(path); ; folder = platform.path.dirname(folder)) {
    if (isRepository((name) => isThere(platform.path.join(folder, name)))) return true;
    if (folder === platform.path.dirname(folder)) return false;
  }
}

/** `has`: whether a folder has an entry. One that lacks something of a repository could get it back. */
export function isRepository(has: (name: string) => boolean): boolean {
  return has(HEAD) && PARTS.some(has);
}

/** A folder called so, such as one of a web page's parts, is no repository's. */
function isHead(path: string, platform: Platform): boolean {
  const name = platform.path.basename(path);
  return platform.fold(name) === platform.fold(HEAD) && !entryStat(path)?.isDirectory();
}

function isThere(entry: string): boolean {
  return entryStat(entry) !== undefined;
}
