/** A mounted tool's definition, as its server gives it: what is pinned of it. */
import { hash } from "node:crypto";
import { canonicalJson } from "@matrx/shared/canonical-json.ts";
import type { ListedTool } from "./connection.ts";

/** Of one definition, and of all of a server, in characters: more is pinned by its hash alone. */
const KEPT_CHARS = 32 * 1024;
const KEPT_TOGETHER = 512 * 1024;

export interface SeenTool {
  /** The server's own name for it. */
  readonly name: string;
  /** Covers all that the server says of it, known to us or not, and the name by which callers get it. */
  readonly sha256: string;
  /** Canonical JSON, to show what has changed. */
  readonly definition?: string | undefined;
}

/**
 * In the server's order, without those that are deeper than the stack; of a name that is there twice, the first one.
 * `names`: those that callers get.
 */
export function seenTools(listed: readonly ListedTool[], names: ReadonlyMap<string, string>): SeenTool[] {
  const seen = new Map<string, SeenTool>();
  let room = KEPT_TOGETHER;
  for (const tool of listed) {
    if (seen.has(tool.name)) continue;
    const definition = definitionOf(tool);
    if (definition === undefined) continue;
    const sha256 = hash("sha256", JSON.stringify([names.get(tool.name), definition]));
    const isKept = definition.length <= Math.min(KEPT_CHARS, room);
    if (isKept) room -= definition.length;
    seen.set(tool.name, { name: tool.name, sha256, ...(isKept && { definition }) });
  }
  return [...seen.values()];
}

function definitionOf(tool: ListedTool): string | undefined {
  try {
    return canonicalJson(tool);
  } catch {
    return undefined;
  }
}
