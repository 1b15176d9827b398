/** The lines of one `.gitignore`: the last one that fits decides. */
import { globMatcher } from "./glob.ts";

interface Rule {
  readonly fits: (path: string) => boolean;
  readonly foldersOnly: boolean;
  /** It brings back what an earlier line left out. */
  readonly bringsBack: boolean;
}

export type GitIgnore = readonly Rule[];

export function gitIgnoreOf(text: string): GitIgnore {
  return text.split(/\r?\n/).flatMap((line) => ruleOf(line) ?? []);
}

/** Of a path below the `.gitignore`'s folder, with `/` between names. Undefined: no line is about it. */
export function ignoredBy(rules: GitIgnore, path: string, isFolder: boolean): boolean | undefined {
  const last = rules.findLast((rule) => (isFolder || !rule.foldersOnly) && rule.fits(path));
  return last && !last.bringsBack;
}

function ruleOf(line: string): Rule | undefined {
  const bringsBack = line.startsWith("!");
  const written = withoutBlanks(bringsBack ? line.slice(1) : line);
  const foldersOnly = written.endsWith("/");
  const glob = foldersOnly ? written.slice(0, -1) : written;
  if (glob === "" || line.startsWith("#")) return undefined;
  // A slash at its beginning or within binds it to this folder.
  const bound = glob.includes("/") ? glob.replace(/^\//, "") : `**/${glob}`;
  return { fits: globMatcher(bound, { dot: true }), foldersOnly, bringsBack };
}

/** Those at the end, unless a backslash keeps the first of them. */
function withoutBlanks(line: string): string {
  const text = line.trimEnd();
  const backslashes = text.length - text.replace(/\\+$/, "").length;
  return backslashes % 2 === 1 ? line.slice(0, text.length + 1) : text;
}
