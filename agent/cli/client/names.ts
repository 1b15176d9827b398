/** Names as people type them: of tools, and of sessions. */
import { createHash } from "node:crypto";
import { BUILT_IN_TOOLS, toolNameOf } from "@matrx/shared/effects.ts";
import { isSessionId } from "@matrx/shared/ids.ts";

/** The built-in tool that a word means, in whatever case, such as `bash`, `open-app` or `local_bash`; undefined: none. */
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
 * The session that a word names: an id, `new`, or any name of the caller's own. The same name is the same session, and
 * nobody else's: sessions belong to their grant.
 */
export function sessionNamed(word: string): string {
  if (word === "new" || isSessionId(word)) return word;
  return createHash("sha256").update(`matrx session ${word}`).digest("hex").slice(0, 16);
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}
