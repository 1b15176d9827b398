/** The files of this machine, as a copy sees them. */
import type { Dirent } from "node:fs";
import { mkdir, opendir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { isNodeError } from "../../platform/private-file.ts";
import type { Files, Listed } from "./files.ts";
import { cannot, LocalSink, openLocalSource } from "./local-file.ts";
import { OWN_NAMES } from "./path-names.ts";

export const localFiles: Files = {
  async kindOf(path) {
    try {
      return (await stat(path)).isDirectory() ? "directory" : "file";
    } catch (cause) {
      if (isNodeError(cause, "ENOENT") || isNodeError(cause, "ENOTDIR")) return undefined;
      throw cannot("read", path, cause);
    }
  },
  async *list(path) {
    for await (const entry of await opendir(path)) {
      yield { name: entry.name, kind: kindOf(entry) };
    }
  },
  names: { ...OWN_NAMES, nameOf: (path) => basename(resolve(path)), join },
  async makeFolder(path) {
    await mkdir(path, { recursive: true }).catch((cause: unknown) => {
      throw cannot("write", path, cause);
    });
  },
  openSource: openLocalSource,
  sinkFor: (path) => new LocalSink(path),
  shown: (path) => path,
};

function kindOf(entry: Dirent): Listed["kind"] {
  // Bytes that are no text were replaced, and lead nowhere.
  if (entry.name.includes("\ufffd")) return "unnameable";
  if (entry.isSymbolicLink()) return "link";
  return entry.isFile() ? "file" : entry.isDirectory() ? "directory" : "other";
}
