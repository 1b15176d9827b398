/** Walks to a directory by descriptors: each step opens one name below the last, and no step follows a link. */
import { closeSync, constants, existsSync, fstatSync, openSync } from "node:fs";
import { type Directory, type OpenDirectory, openByIdentity, pathChangedError } from "../directory.ts";

/** Missing in Node's constants: a descriptor that only identifies a path, and needs no read permission. */
const O_PATH = 0o10000000;
const STEP = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Synchronous, because asynchronous calls would cost ten times as much. The path was just resolved asynchronously, so an
 * unresponsive drive would have blocked there, and the names are in the system's cache.
 */
export const openByDescriptors: OpenDirectory = async (canonical, inspect) => {
  if (!existsSync("/proc/self/fd")) return openByIdentity(canonical, inspect);
  let place = openSync("/", STEP);
  try {
    for (const name of canonical.split("/").filter(Boolean)) {
      const next = step(place, name, canonical);
      closeSync(place);
      place = next;
      inspect(fstatSync(place, { bigint: true }));
    }
  } catch (error) {
    closeSync(place);
    throw error;
  }
  return held(place, canonical);
};

/** `canonical` is for messages. */
function held(place: number, canonical: string): Directory {
  const self = `/proc/self/fd/${place}`;
  return {
    self,
    at: (name) => `${self}/${name}`,
    entry: (name) => Buffer.concat([Buffer.from(`${self}/`), name]),
    async openFolder(name, inspect) {
      const below = step(place, name, canonical);
      try {
        inspect(fstatSync(below, { bigint: true }));
      } catch (error) {
        closeSync(below);
        throw error;
      }
      return held(below, canonical);
    },
    // Whatever was opened through the descriptor cannot be anything else.
    confirm: () => Promise.resolve(),
    close: async () => closeSync(place),
    [Symbol.asyncDispose]: async () => closeSync(place),
  };
}

function step(parent: number, name: string | Buffer, canonical: string): number {
  try {
    return openSync(Buffer.concat([Buffer.from(`/proc/self/fd/${parent}/`), Buffer.from(name)]), STEP);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR" || code === "ELOOP") throw pathChangedError(canonical);
    throw error;
  }
}
