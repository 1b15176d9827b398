/** Whether what was looked for in vain stands in what a search leaves out by default. */
import { type Missed, nothingMissed, type Run } from "./engine.ts";
import { throwUnlessTimedOut } from "./notes.ts";
import type { Scope } from "./scope.ts";

/** For how long it is looked for there: this, and three times what the search took; in milliseconds. */
const LOOK_MS = 2000;

/** Finds one in a wider search: its path, relative or not. */
export type FindOne = (run: Run) => Promise<string | undefined>;

interface Searched {
  readonly scope: Scope;
  /** Milliseconds that it took. */
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** What to say after that nothing was found: nothing, unless something was left out that matters. Throws MatrxError. */
export async function leftOutNote({ scope, ms, signal }: Searched, findOne: FindOne): Promise<string> {
  // A file that is named is searched whatever it is called.
  if (scope.file !== undefined || (scope.showHidden && scope.includeIgnored)) return "";
  const soon = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(LOOK_MS + 3 * ms))]);
  const missed: Missed = nothingMissed();
  const found = await findOne({ scope: widened(scope), missed, signal: soon });
  throwUnlessTimedOut(signal);
  if (found === undefined) return soon.aborted ? `. Left out: ${waysOf(scope).join(", ")}` : "";
  return `. Found in what was left out: ${waysTo(scope, found).join(", ")}`;
}

/** Nobody looks for what git keeps for itself. */
function widened(scope: Scope): Scope {
  const { join } = scope.access.platform.path;
  const leftOut = [...scope.leftOut, join(scope.folder, ".git")];
  return { ...scope, showHidden: true, includeIgnored: true, above: undefined, leftOut };
}

const IGNORED = "what .gitignore excludes (include_ignored=true)";
const HIDDEN = "dotfiles (show_hidden=true)";

function waysOf({ showHidden, includeIgnored }: Scope): string[] {
  return [...(includeIgnored ? [] : [IGNORED]), ...(showHidden ? [] : [HIDDEN])];
}

/** How to find what stands at a path. */
function waysTo(scope: Scope, path: string): string[] {
  const { relative, isAbsolute, sep } = scope.access.platform.path;
  const below = isAbsolute(path) ? relative(scope.folder, path) : path;
  const names = below.split(sep).flatMap((name) => name.split("/"));
  const isHidden = names.some((name) => name.startsWith("."));
  return isHidden && !scope.showHidden ? [HIDDEN] : [IGNORED];
}
