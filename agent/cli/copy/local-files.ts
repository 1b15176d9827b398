/** The files of this machine, as a copy sees them. */
import { mkdir, opendir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { isNodeError } from "../../platform/private-file.ts";
import type { Files } from "./files.ts";
import { cannot, LocalSink, openLocalSource } from "./local-file.ts";

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
      const kind = entry.isFile() ? "file" : entry.isDirectory() ? "directory" : "other";
      yield { name: entry.name, kind };
    }
  },
  join,
  nameOf: (path) => basename(resolve(path)),
  async makeFolder(path) {
    await mkdir(path, { recursive: true }).catch((cause: unknown) => {
      throw cannot("write", path, cause);
    });
  },
  openSource: openLocalSource,
  sinkFor: (path) => new LocalSink(path),
  shown: (path) => path,
};
