/** Copies extended attributes with cp, because Node cannot. It is given open files, so that it touches no others. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { constants as system } from "node:os";
import type { Directory } from "../directory.ts";
import { SYSTEM_PATH } from "../posix.ts";
import { ROOT } from "../run-program.ts";
import { isSystemFull, type MakeSuccessor, type Predecessor } from "../successor.ts";

const NO_FOLLOW = constants.O_NOFOLLOW;
const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;

/** It fails where an attribute cannot be copied, but not where the system has no labels of SELinux. */
const COPY = [
  "--attributes-only",
  "--preserve=all,xattr",
  "--no-preserve=timestamps,links,ownership",
  "--dereference",
  "/proc/self/fd/3",
  "/proc/self/fd/4",
];

/** `searchPath`: where cp is. */
export function successorByCp(searchPath: string): MakeSuccessor {
  return async (folder, old, name) => {
    const made = await open(folder.at(name), NEW, 0o600);
    try {
      await copyAttributes(folder, old, made, searchPath);
      return made;
    } catch (error) {
      await made.close();
      await unlink(folder.at(name)).catch(() => undefined);
      if (isSystemFull(error)) throw error;
      return undefined;
    }
  };
}

/** A cp of the PATH could be one that a caller wrote. */
export const linuxSuccessor = successorByCp(SYSTEM_PATH);

/** Throws where cp is not there, does not know these options, or cannot copy all. */
async function copyAttributes(
  folder: Directory,
  { name, stat }: Predecessor,
  made: FileHandle,
  searchPath: string,
): Promise<void> {
  await using old = await open(folder.at(name), constants.O_RDONLY | NO_FOLLOW | constants.O_NONBLOCK);
  const now = await old.stat({ bigint: true });
  if (now.ino !== stat.ino || now.dev !== stat.dev) throw new Error("another file is there");
  await runCopy([old, made], searchPath);
}

const TIMEOUT_MS = 10_000;

async function runCopy(files: readonly FileHandle[], searchPath: string): Promise<void> {
  const child = spawn("cp", COPY, {
    cwd: ROOT,
    env: { PATH: searchPath, LC_ALL: "C" },
    stdio: ["ignore", "ignore", "pipe", ...files.map(({ fd }) => fd)],
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  let words = "";
  child.stderr?.on("data", (data: Buffer) => {
    words = (words + data).slice(0, 1000);
  });
  const [code] = await once(child, "close");
  if (code === 0) return;
  const error = new Error(words);
  if (!/No space left|quota/i.test(words)) throw error;
  throw Object.assign(error, { code: "ENOSPC", errno: -system.errno.ENOSPC, syscall: "setxattr" });
}
