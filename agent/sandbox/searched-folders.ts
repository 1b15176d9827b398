/** Folders as the kernel numbers them, by which a sandbox tells whether it sees those that were searched for it. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { isReadable } from "./disk.ts";
import { identityOf } from "./read-folder.ts";
import type { SearchedFolder } from "./rules.ts";

const OPEN_FOLDER = constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * `identities`: by path. Undefined: something else is at one of the paths by now. Left out are folders that the sandbox can't
 * open, and all of them on kernels before 5.14, which tell no number.
 */
export function searchedFolders(
  identities: Iterable<readonly [path: string, identity: string]>,
): SearchedFolder[] | undefined {
  const folders: SearchedFolder[] = [];
  for (const [path, identity] of identities) {
    const inode = inodeOf(path, identity);
    if (inode === "moved") return undefined;
    // The sandbox is told of them line by line.
    if (inode !== undefined && !path.includes("\n")) folders.push({ path, inode });
  }
  return folders;
}

/** The number in a descriptor's `fdinfo`, which on some file systems is not that of `stat`. */
function inodeOf(path: string, identity: string): string | "moved" | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, OPEN_FOLDER);
    const stat = fstatSync(descriptor, { bigint: true });
    if (identityOf(stat) !== identity) return "moved";
    if (!isReadable({ uid: Number(stat.uid), gid: Number(stat.gid), mode: Number(stat.mode) }))
      return undefined;
    return /^ino:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1"))?.[1];
  } catch {
    return "moved";
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
