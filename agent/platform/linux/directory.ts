/** Opens a directory by descriptors, one name below the other, and follows no link. */
import { closeSync, constants, existsSync, fstatSync, openSync } from "node:fs";
import { type Directory, type OpenDirectory, openByIdentity, pathChangedError } from "../directory.ts";

/** Missing in Node's constants: a descriptor that only identifies a path, and needs no read permission. */
const O_PATH = 0o10000000;
const FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Synchronous, because asynchronous calls would cost ten times as much. The path was just resolved asynchronously, so an
 * unresponsive drive would have blocked there, and the names are in the system's cache.
 */
export const openByDescriptors: OpenDirectory = async (canonical, inspect) => {
  if (!existsSync("/proc/self/fd")) return openByIdentity(canonical, inspect);
  let descriptor = openSync("/", FLAGS);
  try {
    for (const name of canonical.split("/").filter(Boolean)) {
      const next = openBelow(descriptor, name, canonical);
      closeSync(descriptor);
      descriptor = next;
      inspect(fstatSync(descriptor, { bigint: true }));
    }
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return directoryOf(descriptor, canonical);
};

/** `canonical` is for messages. */
function directoryOf(descriptor: number, canonical: string): Directory {
  const self = `/proc/self/fd/${descriptor}`;
  return {
    self,
    at: (name) => `${self}/${name}`,
    entry: (name) => Buffer.concat([Buffer.from(`${self}/`), name]),
    async openFolder(name, inspect) {
      const below = openBelow(descriptor, name, canonical);
      try {
        inspect(fstatSync(below, { bigint: true }));
      } catch (error) {
        closeSync(below);
        throw error;
      }
      return directoryOf(below, canonical);
    },
    // Whatever was opened through the descriptor cannot be anything else.
    confirm: () => Promise.resolve(),
    close: async () => closeSync(descriptor),
    [Symbol.asyncDispose]: async () => closeSync(descriptor),
  };
}

function openBelow(parent: number, name: string | Buffer, canonical: string): number {
  try {
    return openSync(Buffer.concat([Buffer.from(`/proc/self/fd/${parent}/`), Buffer.from(name)]), FLAGS);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR" || code === "ELOOP") throw pathChangedError(canonical);
    throw error;
  }
}
