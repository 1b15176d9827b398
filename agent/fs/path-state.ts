/** Looks at what is at a path, for an approval that is bound to it. */
import { type BigIntStats, constants } from "node:fs";
import { open, readlink } from "node:fs/promises";
import { toolError } from "@matrx/shared/errors.ts";
import { type PathKind, type PathState, stampOf } from "../core/approved-state.ts";
import type { Caller, PathNeed } from "../core/gate.ts";
import type { Directory } from "../platform/directory.ts";
import { sha256Of } from "../text/chunks.ts";
import type { FileAccess, Files, ResolvedPath } from "./access.ts";
import { explained, hasCode } from "./errors.ts";
import { entryAt } from "./write-file.ts";

/** Of a larger file, only identity, size and times are looked at; in bytes. */
const HASHED_MAX_BYTES = 64 * 1024 * 1024;

/** Looks at all paths that a call needs. Throws MatrxError. */
export async function statesOf(
  files: Files,
  needs: readonly PathNeed[],
  caller: Caller,
  signal: AbortSignal,
): Promise<PathState[]> {
  const access = await files.as(caller);
  const states: PathState[] = [];
  for (const need of needs) states.push(await stateOf(access, need, signal));
  return states;
}

/** Follows links as the tools do. */
async function stateOf(
  access: FileAccess,
  { path, intent, isEntry = false, isWhole }: PathNeed,
  signal: AbortSignal,
): Promise<PathState> {
  const place = await (isEntry ? access.findEntry(path, intent) : access.find(path, intent));
  const named = { path: place.path, named: place.named, intent, ...(isWhole && { isWhole }) };
  if (place.missing.length > 0) return { ...named, kind: "missing" };
  const { folder, name } = access.parentOf(place);
  if (name === "") return { ...named, kind: "folder" };
  await using parent = await access.openFolder(folder, place.shown);
  return await explained(place.shown, "look at", async () => {
    const stat = await entryAt(parent, name);
    if (!stat) return { ...named, kind: "missing" };
    if (intent === "read") access.inspect(stat, place.shown);
    else access.inspectChange(stat, place.shown);
    const found = { ...named, kind: kindOf(stat), stamp: stampOf(stat) };
    if (stat.isSymbolicLink()) return { ...found, content: await readlink(parent.at(name)) };
    if (stat.isFile()) return { ...found, content: await contentOf(parent, name, stat, place, signal) };
    // A folder that is only read or written into may get other entries meanwhile.
    return { ...found, content: intent === "remove" ? identityOf(stat) : undefined };
  });
}

function kindOf(stat: BigIntStats): PathKind {
  if (stat.isSymbolicLink()) return "link";
  if (stat.isDirectory()) return "folder";
  return stat.isFile() ? "file" : "other";
}

/** The SHA-256 of a file, or what tells it apart if it is too large, or may not be read. */
async function contentOf(
  parent: Directory,
  name: string,
  stat: BigIntStats,
  place: ResolvedPath,
  signal: AbortSignal,
): Promise<string> {
  if (stat.size > HASHED_MAX_BYTES) return stampOf(stat);
  try {
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    await using handle = await open(parent.at(name), flags);
    const before = await handle.stat({ bigint: true });
    const sha256 = await sha256Of(handle, signal);
    const after = await handle.stat({ bigint: true });
    if (stampOf(before) !== stampOf(stat) || stampOf(after) !== stampOf(stat)) throw unsteady(place);
    return `sha256:${sha256}`;
  } catch (error) {
    if (hasCode(error, "EACCES", "EPERM")) return stampOf(stat);
    throw error;
  }
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

function unsteady({ shown }: ResolvedPath) {
  return toolError("CONFLICT", `${shown} is being changed by another program just now. Nothing was run`, {
    hint: "Try again when it is done",
    details: { path: shown },
  });
}
