/** What a machine found by name in one of its folders. */

import type { Metadata } from "../../calls/call-tool.ts";
import { ApiError } from "../../relay/api-error.ts";
import type { Entry } from "./entries.ts";
import { nameOf, plainPath } from "./paths.ts";

export interface Found {
  readonly entries: readonly Entry[];
  /** There are more. */
  readonly isCut: boolean;
}

/** Throws ApiError if the machine tells something else. */
export function foundIn({ results, truncated }: Metadata): Found {
  if (!Array.isArray(results))
    throw new ApiError(200, { detail: "The machine's answer can't be read here." });
  return { entries: results.flatMap(entryIn), isCut: truncated === true };
}

function entryIn(value: unknown): Entry[] {
  if (typeof value !== "object" || value === null) return [];
  const { path, type, size, mtime }: Partial<Record<"path" | "type" | "size" | "mtime", unknown>> = value;
  if (typeof path !== "string" || typeof type !== "string") return [];
  return [
    {
      name: nameOf(plainPath(path)),
      type,
      ...(typeof size === "number" && { size }),
      ...(typeof mtime === "string" && { mtime }),
    },
  ];
}
