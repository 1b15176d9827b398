/** Turns a caller's path into an absolute path of this system, without touching the file system. */
import { homedir } from "node:os";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { quotedName } from "../text/display-name.ts";
import type { Platform } from "./platform.ts";

/** Throws MatrxError `INVALID_PARAMETERS`. */
export function absolutePath(text: string, cwd: string, platform: Platform, home = homedir()): string {
  if (text === "") throw badPath(text, "it is empty");
  if (text.includes("\0")) throw badPath(text.replaceAll("\0", "\\0"), "it contains a NUL character");
  if (!text.isWellFormed()) throw badPath(text.toWellFormed(), "it contains half a character");
  const { path } = platform;
  const expanded = expandHome(text, home, platform);
  const objection = platform.objectionTo(expanded);
  if (objection) throw badPath(text, objection);
  return path.resolve(cwd, expanded);
}

/** Whether a path is absolute, including a leading `~`. */
export function isAbsolute(text: string, platform: Platform): boolean {
  return platform.path.isAbsolute(text) || /^~(?:[\\/]|$)/.test(text);
}

/** Whether a path as written ends with a separator. */
export function namesFolder(text: string, { path }: Platform): boolean {
  return text.endsWith("/") || text.endsWith(path.sep);
}

function expandHome(text: string, home: string, { path }: Platform): string {
  if (text === "~") return home;
  const separated = text.startsWith("~/") || (path.sep === "\\" && text.startsWith("~\\"));
  return separated ? path.join(home, text.slice(2)) : text;
}

function badPath(text: string, why: string): MatrxError {
  return toolError("INVALID_PARAMETERS", `${quotedName(text)} cannot be used as a path: ${why}`, {
    hint: "Give an absolute path on this device, or one relative to the home folder (~/...) or the working directory",
    details: { path: text },
  });
}

/** Whether `path` is `folder` or below it; both absolute. */
export function isWithin(path: string, folder: string, platform: Platform): boolean {
  const folded = platform.fold(path);
  const root = platform.fold(folder);
  if (folded === root) return true;
  const { sep } = platform.path;
  return folded.startsWith(root.endsWith(sep) ? root : root + sep);
}
