/** What a machine's folder has in it, as its tool tells. */

import type { Metadata } from "../../calls/call-tool.ts";
import { ApiError } from "../../relay/api-error.ts";

export interface Entry {
  readonly name: string;
  readonly type: string;
  readonly size?: number | undefined;
  /** ISO 8601. */
  readonly mtime?: string | undefined;
  /** Of a symbolic link, as written in it. */
  readonly target?: string | undefined;
  readonly target_type?: string | undefined;
  /** Why nothing is known of the target, though it may be there. */
  readonly target_error?: string | undefined;
  /** Why no more is known of it. */
  readonly error?: string | undefined;
  /** Its name is no UTF-8, and only for display: no tool can open it. */
  readonly name_base64?: string | undefined;
}

export interface FolderPage {
  /** Absolute, as the machine names it. */
  readonly path: string;
  readonly entries: readonly Entry[];
  readonly total: number;
  /** The name after which the rest begins. */
  readonly next: string | undefined;
}

/** Throws ApiError if the machine tells something else. */
export function pageIn({ path, entries, total, next_after: next }: Metadata): FolderPage {
  if (typeof path !== "string" || !Array.isArray(entries) || !entries.every(isEntry)) throw otherToolError();
  return {
    path,
    entries,
    total: typeof total === "number" ? total : entries.length,
    next: typeof next === "string" ? next : undefined,
  };
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== "object" || value === null) return false;
  const { name, type, size, mtime }: Partial<Record<keyof Entry, unknown>> = value;
  return (
    typeof name === "string" &&
    typeof type === "string" &&
    (size === undefined || typeof size === "number") &&
    (mtime === undefined || typeof mtime === "string")
  );
}

function otherToolError(): ApiError {
  return new ApiError(200, {
    detail: "This machine's program can't list folders in a form that this page reads.",
    hint: "Update the program on the machine.",
  });
}

/** What tells it from the others of its folder: names that are no UTF-8 may be shown as another one's. */
export function keyOf({ name, name_base64: odd }: Entry): string {
  return odd === undefined ? name : `\0${odd}`;
}

/** Tools know it by its name. */
export function isNamed({ name_base64: odd }: Entry): boolean {
  return odd === undefined;
}

/** A folder, or a link to one. */
export function isFolder({ type, target_type: target }: Entry): boolean {
  return type === "directory" || (type === "symlink" && target === "directory");
}

/** It has bytes that can be looked at. */
export function isReadable(entry: Entry): boolean {
  const { type, target_type: target } = entry;
  return isNamed(entry) && (type === "file" || (type === "symlink" && target === "file"));
}
