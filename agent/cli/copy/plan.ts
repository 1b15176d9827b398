/** Which files a copy has, and where each of them goes. */
import { callerError, type MatrxError } from "@matrx/shared/errors.ts";
import { isUnfinished } from "../../fs/unfinished.ts";
import type { Files } from "./files.ts";

/** Something on this machine or on a device. */
export interface Place {
  readonly files: Files;
  readonly path: string;
}

/** Device and path of `device:path`; undefined for a path here. One letter is a drive of Windows. */
export function onDevice(word: string): { readonly device: string; readonly path: string } | undefined {
  const [, device, path = ""] = /^([^:/\\]{2,}):(.*)$/s.exec(word) ?? [];
  return device === undefined ? undefined : { device, path };
}

export interface FileCopy {
  readonly kind: "file";
  readonly from: Place;
  readonly to: Place;
}

/** Why something is not copied: no file can have its name where it would go, or it is none. */
export type LeftOutReason = "name" | "link" | "kind";

export type Step =
  | FileCopy
  | { readonly kind: "folder"; readonly to: Place }
  | { readonly kind: "left out"; readonly from: Place; readonly reason: LeftOutReason };

export interface Wish {
  readonly sources: readonly Place[];
  readonly target: Place;
  readonly isRecursive: boolean;
}

/** The steps in order, a folder before what is in it. Throws MatrxError. */
export async function* stepsOf({ sources, target, isRecursive }: Wish): AsyncGenerator<Step> {
  const isInto = sources.length > 1 || target.files.names.endsLikeFolder(target.path);
  const kind = await target.files.kindOf(target.path);
  if (isInto && kind !== "directory") throw noFolder(target);
  for (const from of sources) {
    const { files } = target;
    const name = from.files.names.nameOf(from.path);
    if (kind === "directory" && !files.names.isName(name)) throw noName(from, name);
    const path = kind === "directory" ? files.names.join(target.path, name) : target.path;
    const what = await from.files.kindOf(from.path);
    if (what === undefined) throw nothingThere(from);
    if (what === "directory" && !isRecursive) throw isFolder(from);
    if (what === "file") yield { kind: "file", from, to: { files, path } };
    else yield* folderSteps(from, { files, path });
  }
}

async function* folderSteps(from: Place, to: Place): AsyncGenerator<Step> {
  yield { kind: "folder", to };
  for await (const { name, kind } of from.files.list(from.path)) {
    if (isUnfinished(name)) continue;
    const inner = { files: from.files, path: from.files.names.join(from.path, name) };
    // A device chooses its names: none may lead out of the folder here.
    const isNamed = kind !== "unnameable" && to.files.names.isName(name);
    const outer = { files: to.files, path: to.files.names.join(to.path, name) };
    if (kind === "link") yield { kind: "left out", from: inner, reason: "link" };
    else if (!isNamed) yield { kind: "left out", from: inner, reason: "name" };
    else if (kind === "other") yield { kind: "left out", from: inner, reason: "kind" };
    else if (kind === "directory") yield* folderSteps(inner, outer);
    else yield { kind: "file", from: inner, to: outer };
  }
}

function noName({ files, path }: Place, name: string): MatrxError {
  return callerError("INVALID_PARAMETERS", `${files.shown(path)}: a file can't be named "${name}" there`, {
    hint: "Name the target: a folder, and a name in it",
  });
}

function nothingThere({ files, path }: Place): MatrxError {
  return callerError("NOT_FOUND", `${files.shown(path)} is not there`);
}

function isFolder({ files, path }: Place): MatrxError {
  return callerError("INVALID_PARAMETERS", `${files.shown(path)} is a folder`, {
    hint: "Copy it with all that is in it: -r",
  });
}

function noFolder({ files, path }: Place): MatrxError {
  return callerError("NOT_FOUND", `${files.shown(path)} is not a folder`, {
    hint: "Create it first, or name one file and its new name",
  });
}
