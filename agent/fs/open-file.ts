/** Opens an ordinary file for reading. Refuses other types unopened, because opening them may block or have effects. */
import { type BigIntStats, constants, fstatSync, lstatSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { pathChangedError } from "../platform/directory.ts";
import { toolName } from "../text/tool-names.ts";
import type { FileAccess, ResolvedPath } from "./access.ts";
import { explained } from "./errors.ts";

export interface OpenFile {
  readonly place: ResolvedPath;
  readonly handle: FileHandle;
  readonly stat: BigIntStats;
}

/** Close its handle. Throws MatrxError. */
export async function openFile(access: FileAccess, text: string): Promise<OpenFile> {
  const place = await access.findExisting(text, "read");
  const { folder, name } = access.parentOf(place);
  await using parent = await access.openFolder(folder, place.shown);
  return await explained(place.shown, "read", async () => {
    if (name === "") throw notAFile(place, "a folder");
    // Synchronous, because the entry was just looked up asynchronously and is in the system's cache.
    refuseOddKind(lstatSync(parent.at(name), { bigint: true }), place);
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    const handle = await open(parent.at(name), flags);
    try {
      const stat = fstatSync(handle.fd, { bigint: true });
      refuseOddKind(stat, place);
      access.inspect(stat, place.shown);
      await parent.confirm(name, stat);
      return { place, handle, stat };
    } catch (error) {
      await handle.close();
      throw error;
    }
  });
}

/** Throws MatrxError unless it is an ordinary file. */
export function refuseOddKind(stat: BigIntStats, place: ResolvedPath): void {
  if (stat.isFile()) return;
  // There was no link when the path was resolved.
  if (stat.isSymbolicLink()) throw pathChangedError(place.path);
  throw notAFile(place, kindOf(stat));
}

/** The type in words, with an article. */
export function kindOf(stat: BigIntStats): string {
  if (stat.isDirectory()) return "a folder";
  if (stat.isFIFO()) return "a named pipe";
  if (stat.isSocket()) return "a socket";
  if (stat.isCharacterDevice() || stat.isBlockDevice()) return "a device";
  return stat.isFile() ? "a file" : "of an unknown kind";
}

function notAFile(place: ResolvedPath, kind: string): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `${place.shown} is ${kind}, not a file`, {
    hint:
      kind === "a folder"
        ? `Use ${toolName("ListDirectory")}, or name a file in it`
        : "Only ordinary files can be opened",
    details: { path: place.shown, kind },
  });
}
