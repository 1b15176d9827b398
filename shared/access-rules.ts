/** Rules that grants and policies are made of: names of tools, paths that are closed, and what a person is asked about. */
import * as z from "zod";
import { type Effect, effectSchema } from "./effects.ts";
import { globMatcher } from "./glob.ts";

/** A tool's name, or a glob of names: `*` stands for any characters, `?` for one. */
export const toolGlobSchema = z
  .string()
  .min(1)
  .max(128)
  .refine((glob) => !hasControls(glob), "contains control characters");

/** An absolute path on any system; `~` is the home folder of the agent's user. */
const FULL_PATH = /^(?:\/|~(?:[\\/]|$)|[A-Za-z]:[\\/]|\\\\)/;

/** A folder's full path. */
export const folderSchema = z
  .string()
  .max(4096)
  .regex(FULL_PATH, "must be a folder's full path, such as /home/ann/projects");

/** A full path, or `**` and what follows in any folder; it also matches everything below what it matches. */
export const pathGlobSchema = z
  .string()
  .max(4096)
  .superRefine((glob, { addIssue }) => {
    const problem = problemOf(glob);
    if (problem) addIssue(problem);
  });

function problemOf(glob: string): string | undefined {
  if (!FULL_PATH.test(glob) && !glob.startsWith("**/"))
    return "must be a full path or begin with **/, such as ~/.ssh or **/.env*";
  if (hasControls(glob)) return "contains control characters";
  const names = glob.split(/[\\/]/).slice(1);
  if (names.some((name) => name === "." || name === ".."))
    return "contains . or .., which no resolved path does";
  if (names.slice(0, -1).includes("") && !glob.startsWith("\\\\"))
    return "contains an empty name, which no path does";
  return /\[[^\]]*$/.test(glob) ? "has a [ without ]" : undefined;
}

function hasControls(text: string): boolean {
  return /[\p{Cc}\u2028\u2029]/u.test(text);
}

/**
 * When a person is asked first: if the call fits every field that is given. A call fits `match` if one of its subjects
 * does: the resolved path of a file, a command, an address, an application. `*` in it stands for any characters.
 */
export const askRuleSchema = z.strictObject({
  effects: z.array(effectSchema).min(1).optional(),
  tools: z.array(toolGlobSchema).min(1).max(256).optional(),
  match: z.string().min(1).max(1000).optional(),
  except: z.array(toolGlobSchema).max(256).optional().describe("Tools that this rule does not ask about"),
});
export type AskRule = z.infer<typeof askRuleSchema>;

export const askRulesSchema = z.array(askRuleSchema).max(64);

/** Whether a name fits one of these names and globs. */
export function fitsTool(globs: readonly string[], tool: string): boolean {
  return globs.some((glob) => glob === tool || (/[*?]/.test(glob) && fitsWildcard(glob, tool)));
}

/** What a rule is asked about. Absent `subjects` are not known yet, and may fit. */
export interface AskedCall {
  readonly tool: string;
  readonly effect: Effect;
  readonly subjects?: readonly string[] | undefined;
}

export function mustAsk(rule: AskRule, { tool, effect, subjects }: AskedCall): boolean {
  const { effects, tools, match, except = [] } = rule;
  if (effects && !effects.includes(effect)) return false;
  if (tools && !fitsTool(tools, tool)) return false;
  if (fitsTool(except, tool)) return false;
  return match === undefined || subjects === undefined || subjects.some((one) => fitsWildcard(match, one));
}

/** `*` stands for any characters, line breaks and slashes included, `?` for one. Linear in the text for each star. */
export function fitsWildcard(pattern: string, text: string): boolean {
  let at = 0;
  let sign = 0;
  let star = -1;
  let after = 0;
  while (at < text.length) {
    if (pattern[sign] === "*") {
      star = sign++;
      after = at;
    } else if (pattern[sign] === "?" || pattern[sign] === text[at]) {
      sign++;
      at++;
    } else if (star >= 0) {
      sign = star + 1;
      at = ++after;
    } else return false;
  }
  while (pattern[sign] === "*") sign++;
  return sign === pattern.length;
}

/** Paths that are closed: each glob closes what it matches and everything below that. */
export class ClosedPaths {
  readonly #literal = new Map<string, Pattern[]>();
  readonly #wild: Pattern[] = [];
  readonly #known = new Map<string, string | undefined>();

  /** `home` replaces `~`; without it such globs match nothing. */
  constructor(globs: readonly string[], home: string | undefined) {
    for (const glob of globs) this.#add(glob, home);
  }

  get isEmpty(): boolean {
    return this.#literal.size === 0 && this.#wild.length === 0;
  }

  /** The glob that closes an absolute, resolved path; undefined: none does. Letter case never matters. */
  closing(path: string): string | undefined {
    return this.isEmpty ? undefined : this.#closing(normalized(path));
  }

  #closing(path: string): string | undefined {
    if (this.#known.has(path)) return this.#known.get(path);
    const slash = path.lastIndexOf("/");
    const above = slash >= 0 ? this.#closing(path.slice(0, slash)) : undefined;
    const glob = above ?? this.#matching(path, path.slice(slash + 1));
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(path, glob);
    return glob;
  }

  #matching(path: string, name: string): string | undefined {
    const literal = this.#literal.get(name) ?? [];
    return [...literal, ...this.#wild].find(({ matches }) => matches(path))?.glob;
  }

  #add(glob: string, home: string | undefined): void {
    const isInHome = /^~(?:[\\/]|$)/.test(glob);
    if (isInHome && home === undefined) return;
    const full = normalized(isInHome ? `${escaped(home ?? "")}${glob.slice(1)}` : glob);
    const last = full.slice(full.lastIndexOf("/") + 1);
    const matches = globMatcher(full, { dot: true });
    if (/[*?[\\]/.test(last)) this.#wild.push({ glob, matches });
    else this.#literal.set(last, [...(this.#literal.get(last) ?? []), { glob, matches }]);
  }
}

interface Pattern {
  readonly glob: string;
  readonly matches: (path: string) => boolean;
}

const KNOWN_MAX = 10_000;

/** One spelling for all systems: forward slashes, composed characters, lower case, none at the end. */
function normalized(path: string): string {
  return path.replaceAll("\\", "/").replace(/\/+$/, "").normalize("NFC").toLowerCase();
}

/** A home folder may contain characters that mean something in a glob; `[x]` is the way to write one that backslashes survive. */
function escaped(path: string): string {
  return path.replace(/[*?[]/g, "[$&]");
}
