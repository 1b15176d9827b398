/** Names of tools and sessions as people type them. */
import { createHash } from "node:crypto";
import { BUILT_IN_TOOLS, toolNameOf } from "@matrx/shared/effects.ts";
import { isSessionId } from "@matrx/shared/ids.ts";

/** The built-in tool for a word such as `bash`, `open-app` or `local_bash`, in any case; undefined if there is none. */
export function builtInTool(word: string): string | undefined {
  const exact = toolNameOf(word);
  if (BUILT_IN_TOOLS.includes(exact)) return exact;
  const wanted = bare(word);
  return BUILT_IN_TOOLS.find((tool) => bare(tool) === wanted);
}

/** A tool that is not built in keeps its name. */
export function toolNamed(word: string): string {
  return builtInTool(word) ?? word;
}

/**
 * The id of a session for an id, `new`, or any name of the caller's choice. The same name always gives the same session,
 * and never another caller's, because sessions belong to their grant.
 */
export function sessionNamed(word: string): string {
  if (word === "new" || isSessionId(word)) return word;
  return createHash("sha256").update(`matrx session ${word}`).digest("hex").slice(0, 16);
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}
