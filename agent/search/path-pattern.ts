/** Glob patterns for paths, with the same meaning in all engines. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { globMatcher, separateGlobs, withChoices } from "@matrx/shared/glob.ts";
import type { FileChoice } from "./engine.ts";

export interface PathPattern extends FileChoice {
  /** Whether it names entries with a leading dot, which are left out otherwise. */
  readonly namesHidden: boolean;
  /** Whether it could match something in a folder. */
  mayMatchBelow(folder: string): boolean;
}

const LONGEST = 1000;
/** Limit on a pattern with its braces expanded, in characters. */
const LONGEST_CHOICES = 20_000;

/**
 * `*` and `?` stay within a name, `**` spans folders, `[a-z]` and `{a,b}` are choices; everything else is literal. Without
 * `/` it matches names at any depth. Of several patterns separated by commas, one must match. Throws MatrxError
 * `INVALID_PARAMETERS`.
 */
export function pathPattern(pattern: string, showHidden: boolean): PathPattern {
  if (pattern.length > LONGEST) throw badPattern(pattern, `it has more than ${LONGEST} characters`);
  const globs = separateGlobs(pattern);
  const whole = onePattern(pattern, showHidden);
  if (globs[0] === pattern) return whole;
  // A name may contain a comma too.
  const all = [whole, ...globs.map((glob) => onePattern(glob, showHidden))];
  const hasHints = all.every(({ nameHints }) => nameHints.length > 0);
  return {
    namesHidden: all.some(({ namesHidden }) => namesHidden),
    nameHints: hasHints ? all.flatMap(({ nameHints }) => nameHints) : [],
    matches: (path) => all.some((one) => one.matches(path)),
    mayMatchBelow: (folder) => all.some((one) => one.mayMatchBelow(folder)),
  };
}

function onePattern(pattern: string, showHidden: boolean): PathPattern {
  const written = pattern.normalize("NFC");
  const rooted = written.replace(/^(?:\.?\/)+/, "");
  if (rooted === "") throw badPattern(pattern, "it names nothing");
  const anywhere = !written.includes("/");
  const glob = anywhere ? `**/${rooted}` : rooted;
  const choices = withChoices(glob, LONGEST_CHOICES);
  if (!choices) throw badPattern(pattern, "its braces expand to too many patterns");
  // Folders have brackets in their names, too: app/[slug]/*.tsx finds what is in one of that name.
  const literal = glob.replace(/\\.|[[\]]/gs, (sign) => (sign.length > 1 ? sign : `\\${sign}`));
  const all = literal === glob ? choices : [...choices, ...(withChoices(literal, LONGEST_CHOICES) ?? [])];
  const matcherOf = (one: string) => globMatcher(one, { dot: showHidden });
  const matchers = all.map(matcherOf);
  return {
    namesHidden: /(?:^|[/{,])\./.test(rooted),
    nameHints: nameHints(rooted.slice(rooted.lastIndexOf("/") + 1)),
    matches(path) {
      const place = path.normalize("NFC");
      // A name with brackets, such as [id].ts, is found by itself too.
      return (
        matchers.some((isMatch) => isMatch(place)) ||
        place === rooted ||
        (anywhere && place.endsWith(`/${rooted}`))
      );
    },
    mayMatchBelow(folder) {
      const place = folder.normalize("NFC");
      return all.flatMap(beginningsOf).some((beginning) => matcherOf(beginning)(place));
    },
  };
}

/** The folders that a glob leads through. */
function beginningsOf(glob: string): string[] {
  const names = glob.split("/");
  return names.slice(0, -1).map((_, index) => names.slice(0, index + 1).join("/"));
}

/** Splits off the folder that a pattern begins with, so that only that is walked. */
export function splitPattern(pattern: string, separator: string): { folder: string; rest: string } {
  const glob = separator === "\\" ? pattern.replaceAll("\\", "/") : pattern;
  if (separateGlobs(glob).length > 1) return { folder: "", rest: glob };
  const special = glob.search(/[*?[\]{}\\]/);
  const until = special < 0 ? glob.lastIndexOf("/") : glob.lastIndexOf("/", special);
  if (until < 0) return { folder: "", rest: glob };
  // The rest applies to that folder itself.
  return { folder: glob.slice(0, until) || "/", rest: `./${glob.slice(until + 1)}` };
}

const SIMPLE_CHOICE = /\{[\w-]+(?:\.[\w-]+)*(?:,[\w-]+(?:\.[\w-]+)*)+\}/g;

/** A weaker pattern, in which everything that is not plain becomes `*`; empty if any name may match. */
function nameHints(name: string): string[] {
  if (/[[\]{}\\]/.test(name.replace(SIMPLE_CHOICE, ""))) return [];
  const hint = name.replace(/[^\w. {},*-]/gu, "*").replace(/\*+/g, "*");
  return hint === "*" ? [] : [hint];
}

function badPattern(pattern: string, why: string): MatrxError {
  return toolError(
    "INVALID_PARAMETERS",
    `"${pattern.slice(0, 100)}" cannot be used as a glob pattern: ${why}`,
    { hint: "Use one such as *.ts, src/**/*.ts or **/*.{js,ts}", details: { field: "pattern" } },
  );
}
