/** Whether a search that found nothing would have found something in what it leaves out by default. */
import { type Missed, nothingMissed, type Run } from "./engine.ts";
import { throwUnlessTimedOut } from "./notes.ts";
import type { Scope } from "./scope.ts";

/** How long to look there: this, plus three times as long as the search took; in milliseconds. */
const LOOK_MS = 2000;

/** The path of one result of a wider search, relative or not. */
export type FindOne = (run: Run) => Promise<string | undefined>;

interface Searched {
  readonly scope: Scope;
  /** How long it took, in milliseconds. */
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** What to add when nothing was found: nothing, unless what was left out matters. Throws MatrxError. */
export async function leftOutNote({ scope, ms, signal }: Searched, findOne: FindOne): Promise<string> {
  // A file given as path is searched whatever its name is.
  if (scope.file !== undefined || (scope.showHidden && scope.includeIgnored)) return "";
  const soon = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(LOOK_MS + 3 * ms))]);
  const missed: Missed = nothingMissed();
  const found = await findOne({ scope: widened(scope), missed, signal: soon });
  throwUnlessTimedOut(signal);
  if (found === undefined) return soon.aborted ? `. Left out: ${waysOf(scope).join(", ")}` : "";
  return `. Found in what was left out: ${waysTo(scope, found).join(", ")}`;
}

/** Git's own files are never what was meant. */
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

/** How to find what is at a path. */
function waysTo(scope: Scope, path: string): string[] {
  const { relative, isAbsolute, sep } = scope.access.platform.path;
  const below = isAbsolute(path) ? relative(scope.folder, path) : path;
  const names = below.split(sep).flatMap((name) => name.split("/"));
  const isHidden = names.some((name) => name.startsWith("."));
  return isHidden && !scope.showHidden ? [HIDDEN] : [IGNORED];
}
