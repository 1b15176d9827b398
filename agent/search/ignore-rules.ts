/** The rules of `.gitignore` files: in a folder, in those below it, and in the repository that contains it. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { globMatcher } from "@matrx/shared/glob.ts";
import type { FileAccess } from "../fs/access.ts";
import type { Directory } from "../platform/directory.ts";

/** Larger `.gitignore` files are ignored, in bytes. */
const MOST_BYTES = 1024 * 1024;

interface Layer {
  /** The folder of the `.gitignore`, with a separator at its end. */
  readonly folder: string;
  readonly separator: string;
  readonly rules: GitIgnore;
}

export class IgnoreRules {
  static readonly none = new IgnoreRules([], false);
  /** No rules yet, at the top of a repository: rules do not extend into another repository. */
  static readonly ofRepository = new IgnoreRules([], true);
  /** The deepest folder comes first: its rules take precedence. */
  readonly #layers: readonly Layer[];

  readonly #inRepository: boolean;

  private constructor(layers: readonly Layer[], inRepository: boolean) {
    this.#layers = layers;
    this.#inRepository = inRepository;
  }

  /** Adds the `.gitignore` of a folder, if there is one. */
  withThoseOf(opened: Directory, folder: string, separator: string): IgnoreRules {
    const kept = this.#inRepository && stands(opened.at(".git")) ? [] : this.#layers;
    const text = readSmall(opened.at(".gitignore"));
    if (text === undefined) return new IgnoreRules(kept, this.#inRepository);
    const rules = gitIgnoreOf(text.replace(/^\ufeff/, ""));
    const layer = { folder: folder.endsWith(separator) ? folder : folder + separator, separator, rules };
    return new IgnoreRules([layer, ...kept], this.#inRepository);
  }

  /** `path` is absolute, and below the folders of these rules. */
  ignores(path: string, isFolder: boolean): boolean {
    for (const { folder, separator, rules } of this.#layers) {
      const ignored = ignoredBy(rules, path.slice(folder.length).replaceAll(separator, "/"), isFolder);
      if (ignored !== undefined) return ignored;
    }
    return false;
  }
}

/**
 * The rules above a folder, up to the top of its repository. Undefined if it is not in a repository, if it is ignored
 * itself (a search in it should still find something), or if the caller may not read all folders above.
 */
export async function rulesAbove(access: FileAccess, folder: string): Promise<IgnoreRules | undefined> {
  const above = foldersToRepository(access, folder);
  if (!above) return undefined;
  let rules = IgnoreRules.ofRepository;
  for (const [index, parent] of above.entries()) {
    const opened = await access.openFolder(parent, parent);
    try {
      rules = rules.withThoseOf(opened, parent, access.platform.path.sep);
    } finally {
      await opened.close();
    }
    if (rules.ignores(above[index + 1] ?? folder, true)) return undefined;
  }
  return rules;
}

/** The folders above, the top of the repository first. */
function foldersToRepository(access: FileAccess, folder: string): string[] | undefined {
  const { path } = access.platform;
  const above: string[] = [];
  for (let place = folder; access.mayReadCanonical(place); place = path.dirname(place)) {
    if (place !== folder) above.unshift(place);
    if (stands(path.join(place, ".git"))) return above;
    if (path.dirname(place) === place) return undefined;
  }
  return undefined;
}

/** Synchronous, because the path was just resolved and is in the system's cache. */
function stands(place: string): boolean {
  try {
    return lstatSync(place, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** Undefined if there is none that can be read. */
function readSmall(path: string): string | undefined {
  let file: number;
  try {
    // Opening a pipe would unblock its writer.
    if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch {
    return undefined;
  }
  try {
    const stat = fstatSync(file);
    return stat.isFile() && stat.size <= MOST_BYTES ? readFileSync(file, "utf8") : undefined;
  } finally {
    closeSync(file);
  }
}

interface Rule {
  readonly fits: (path: string) => boolean;
  readonly foldersOnly: boolean;
  /** Whether the line (`!`) includes again what an earlier line ignored. */
  readonly bringsBack: boolean;
}

type GitIgnore = readonly Rule[];

export function gitIgnoreOf(text: string): GitIgnore {
  return text.split(/\r?\n/).flatMap((line) => ruleOf(line) ?? []);
}

/** For a path below the `.gitignore`'s folder, with `/` between names. Undefined if no line matches it. */
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
  // A slash at the beginning or within anchors the pattern to this folder.
  const bound = glob.includes("/") ? glob.replace(/^\//, "") : `**/${glob}`;
  return { fits: globMatcher(bound, { dot: true }), foldersOnly, bringsBack };
}

/** Removes trailing blanks, unless a backslash escapes the first of them. */
function withoutBlanks(line: string): string {
  const text = line.trimEnd();
  const backslashes = text.length - text.replace(/\\+$/, "").length;
  return backslashes % 2 === 1 ? line.slice(0, text.length + 1) : text;
}
