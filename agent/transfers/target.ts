/** Opens what a path leads to, file or folder, and describes it. */
import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { stampOf } from "../core/approved-state.ts";
import type { ToolContext } from "../core/tool.ts";
import type { FileAccess, ResolvedPath } from "../fs/access.ts";
import { explained } from "../fs/errors.ts";
import { fileTime } from "../fs/file-time.ts";
import { type OpenFile, openFile } from "../fs/open-file.ts";
import type { Digests, Validators } from "./digests.ts";
import { leadsElsewhereError, unsizedError } from "./errors.ts";
import { mediaTypeOf } from "./media-types.ts";

type Target =
  | ({ readonly kind: "file" } & OpenFile)
  | { readonly kind: "directory"; readonly place: ResolvedPath; readonly stat: BigIntStats };

/** What FileInfo and Download say of a file or folder. */
export interface TargetFacts extends Validators {
  readonly kind: Target["kind"];
  readonly path: string;
  readonly name: string;
  /** In bytes; folders have none. */
  readonly size?: number;
  /** ISO 8601. */
  readonly modified: string;
  /** Octal, such as `0644`. */
  readonly mode: string;
  /** Of what a download delivers. */
  readonly media_type: string;
}

/** A file or folder, and what is said of it. */
export interface DescribedTarget {
  readonly place: ResolvedPath;
  readonly stat: BigIntStats;
  readonly facts: TargetFacts;
}

/** What a call says of the file or folder that it means. */
export interface WantedTarget {
  readonly path: string;
  /** False: the path is a real one, and is refused if a link has been put in its place. */
  readonly follow_links?: boolean | undefined;
}

/** Describes what a call's path leads to; reads the whole file if its digest is not known. Throws MatrxError. */
export async function describeTarget(
  access: FileAccess,
  { path, follow_links = true }: WantedTarget,
  digests: Digests,
  { approved, signal }: Pick<ToolContext, "approved" | "signal">,
): Promise<DescribedTarget> {
  const target = await openTarget(access, path);
  const { place, stat } = target;
  try {
    if (!follow_links && place.path !== path) throw leadsElsewhereError(place.named);
    approved?.check(place.path, place.shown, stat);
    if (target.kind === "file") await explained(place.shown, "read", () => checkSize(target));
    return { place, stat, facts: await factsOf(target, access, digests, signal) };
  } finally {
    if (target.kind === "file") await target.handle.close();
  }
}

async function openTarget(access: FileAccess, path: string): Promise<Target> {
  const place = await access.findExisting(path, "read");
  const stat = await folderAt(access, place);
  if (stat) return { kind: "directory", place, stat };
  return { kind: "file", ...(await openFile(access, place.path)), place };
}

/** Undefined if it is not a folder. */
async function folderAt(access: FileAccess, place: ResolvedPath): Promise<BigIntStats | undefined> {
  const { folder, name } = access.parentOf(place);
  await using parent = await access.openFolder(folder, place.shown);
  const entry = name === "" ? parent.self : parent.at(name);
  // A descriptor of the root is itself a link.
  const look = name === "" ? `${entry}/.` : entry;
  const stat = await explained(place.shown, "look at", () => lstat(look, { bigint: true }));
  if (!stat.isDirectory()) return undefined;
  access.inspect(stat, place.shown);
  return stat;
}

/** Files that the system makes up, as in /proc, have another content than their size says. Throws MatrxError. */
async function checkSize({ place, handle, stat }: OpenFile): Promise<void> {
  const [before, at] = stat.size > 0n ? [1, stat.size - 1n] : [0, 0n];
  const { bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, at);
  if (bytesRead === before) return;
  // It may just be growing, or shrinking.
  if (stampOf(await handle.stat({ bigint: true })) === stampOf(stat)) throw unsizedError(place.shown);
}

async function factsOf(
  target: Target,
  access: FileAccess,
  digests: Digests,
  signal: AbortSignal,
): Promise<TargetFacts> {
  const { kind, place, stat } = target;
  const name = access.platform.path.basename(place.path);
  const facts = {
    ...{ kind, path: place.path, name },
    modified: fileTime(stat.mtimeMs).toISOString(),
    mode: (stat.mode & 0o7777n).toString(8).padStart(4, "0"),
  };
  if (kind === "directory") return { ...facts, media_type: "application/zip" };
  const validators = await explained(place.shown, "read", () => digests.validatorsOf(target, signal));
  return { ...facts, size: Number(stat.size), media_type: mediaTypeOf(name), ...validators };
}
