/** Walks to a directory by descriptors: each step opens one name below the last, and no step follows a link. */
import { constants, existsSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { changedOnTheWay, type OpenDirectory, openByIdentity } from "./directory.ts";

/** Not among Node's constants: a descriptor that only names a place, and needs no right to read it. */
const O_PATH = 0o10000000;
const STEP = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

export const openByDescriptors: OpenDirectory = async (canonical, inspect) => {
  if (!existsSync("/proc/self/fd")) return openByIdentity(canonical, inspect);
  let handle = await open("/", STEP);
  try {
    for (const name of canonical.split("/").filter(Boolean)) {
      const next = await step(handle, name, canonical);
      await handle.close();
      handle = next;
      inspect(await handle.stat({ bigint: true }));
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  const self = `/proc/self/fd/${handle.fd}`;
  return {
    self,
    at: (name) => `${self}/${name}`,
    // What was opened through the descriptor cannot be anything else.
    confirm: () => Promise.resolve(),
    close: () => handle.close(),
  };
};

async function step(parent: FileHandle, name: string, canonical: string): Promise<FileHandle> {
  try {
    return await open(`/proc/self/fd/${parent.fd}/${name}`, STEP);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR" || code === "ELOOP") throw changedOnTheWay(canonical);
    throw error;
  }
}
