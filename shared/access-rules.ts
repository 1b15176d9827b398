/** Rules that grants and policies are made of: names of tools, paths that are closed, and what a person is asked about. */
import * as z from "zod";
import { fitsWildcard, mayFit } from "./commands/subject.ts";
import { type Effect, effectOf, effectSchema } from "./effects.ts";
import { globMatcher } from "./glob.ts";

/** A tool's name, or a glob of names: `*` stands for any characters, `?` for one. */
export const toolGlobSchema = entrySchema(128, (glob) =>
  /^[\p{L}\p{N}_.:/@*?-]+$/u.test(glob) ? undefined : "fits no tool's name; * and ? are the only wildcards",
);

/** An absolute path on any system; `~` is the home folder of the agent's user. */
const FULL_PATH = /^(?:\/|~(?:[\\/]|$)|[A-Za-z]:[\\/]|\\\\)/;

/** A domain, and with `*.` those below it. */
export const domainSchema = z
  .string()
  .max(253)
  .regex(/^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}$/, "must be a domain in lower case");

/** A folder's full path. */
export const folderSchema = entrySchema(4096, (folder) =>
  FULL_PATH.test(folder) ? undefined : "must be a folder's full path, such as /home/ann/projects",
);

/** The full path of a file or folder: absolute, or below the home folder (`~/`). */
export const fullPathSchema = entrySchema(4096, (path) =>
  FULL_PATH.test(path) ? undefined : "must be a full path, such as /home/ann/report.pdf",
);

/** A full path, or `**` and what follows in any folder; it also matches everything below what it matches. */
export const pathGlobSchema = entrySchema(4096, problemOf);

/** An entry of a list; the message of what is wrong with it names it. */
function entrySchema(most: number, problem: (entry: string) => string | undefined) {
  return z
    .string()
    .max(most)
    .superRefine((entry, { addIssue }) => {
      const wrong = problem(entry);
      if (wrong) addIssue(`${JSON.stringify(entry.slice(0, 200))} ${wrong}`);
    });
}

function problemOf(glob: string): string | undefined {
  if (!FULL_PATH.test(glob) && !glob.startsWith("**/"))
    return "must be a full path or begin with **/, such as ~/.ssh or **/.env*";
  if (hasControls(glob)) return "contains control characters";
  const names = glob.split(/[\\/]/).slice(1);
  if (names.some((name) => name === "." || name === ".."))
    return "contains . or .., which no resolved path does";
  if (names.slice(0, -1).includes("") && !glob.startsWith("\\\\"))
    return "contains an empty name, which no path does";
  const sets = names.flatMap((name) => [...name.matchAll(SET)].map(([, set = ""]) => set));
  if (sets.some(hasEmptyRange)) return "has a range such as [z-a], which no character is in";
  const plain = names.map((name) => name.replace(SET, "")).join("/");
  if (plain.includes("[")) return "has a [ without ]";
  return /[{}]/.test(plain) ? "has braces, which are no choice here: write an entry for each" : undefined;
}

const SET = /\[([^\]]+)\]/g;

function hasEmptyRange(set: string): boolean {
  const ranges = [...set.replace(/^[!^]/, "").matchAll(/(.)-(.)/gsu)];
  return ranges.some(([, from = "", to = ""]) => from > to);
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
  return globs.some((glob) => glob === tool || fitsWildcard(glob, tool));
}

/** What a rule is asked about. Absent `subjects` are not known yet, and may fit. */
export interface AskedCall {
  readonly tool: string;
  readonly effect: Effect;
  readonly subjects?: readonly string[] | undefined;
}

export function mustAsk(rule: AskRule, { tool, effect, subjects }: AskedCall): boolean {
  const { effects, tools, match, except = [] } = rule;
  // Who names a tool means all of its calls, whatever they do.
  if (effects && !effects.includes(effect) && !(tools && effects.includes(effectOf(tool)))) return false;
  if (tools && !fitsTool(tools, tool)) return false;
  if (fitsTool(except, tool)) return false;
  return match === undefined || subjects === undefined || subjects.some((one) => mayFit(match, one));
}

/** Paths that are closed: each glob closes what it matches and everything below that. */
export class ClosedPaths {
  /** By the last name of each glob; those with a wildcard there stand under `wild`. */
  readonly #literal = new Map<string, Pattern[]>();
  readonly #wild: Pattern[] = [];
  readonly #folders = new Map<string, string | undefined>();

  /** `home` replaces `~`; without it such globs match nothing. */
  constructor(globs: readonly string[], home: string | undefined) {
    for (const glob of globs) this.#add(glob, home);
  }

  get isEmpty(): boolean {
    return this.#literal.size === 0 && this.#wild.length === 0;
  }

  /** The glob that closes an absolute, resolved path; undefined: none does. Letter case never matters. */
  closing(path: string): string | undefined {
    if (this.isEmpty) return undefined;
    const full = normalized(path);
    const slash = full.lastIndexOf("/");
    const above = slash >= 0 ? this.#closingFolder(full.slice(0, slash)) : undefined;
    return above ?? this.#matching(full, full.slice(slash + 1));
  }

  /** Remembered, because what a search finds lies in few folders. */
  #closingFolder(path: string): string | undefined {
    if (this.#folders.has(path)) return this.#folders.get(path);
    const slash = path.lastIndexOf("/");
    const above = slash >= 0 ? this.#closingFolder(path.slice(0, slash)) : undefined;
    const glob = above ?? this.#matching(path, path.slice(slash + 1));
    if (this.#folders.size >= FOLDERS_MAX) this.#folders.clear();
    this.#folders.set(path, glob);
    return glob;
  }

  #matching(path: string, name: string): string | undefined {
    const literal = this.#literal.get(name)?.find((pattern) => pattern.matches(path));
    return (literal ?? this.#wild.find((pattern) => pattern.fits(name) && pattern.matches(path)))?.glob;
  }

  #add(glob: string, home: string | undefined): void {
    const isInHome = /^~(?:[\\/]|$)/.test(glob);
    if (isInHome && home === undefined) return;
    const full = normalized(isInHome ? `${literalGlob(home ?? "")}${glob.slice(1)}` : glob);
    const last = full.slice(full.lastIndexOf("/") + 1);
    const pattern = new Pattern(glob, full);
    if (/[*?[]/.test(last)) this.#wild.push(pattern);
    else this.#literal.set(last, [...(this.#literal.get(last) ?? []), pattern]);
  }
}

class Pattern {
  readonly glob: string;
  readonly #full: string;
  /** What the last name begins and ends with: quicker to compare than the whole path. */
  readonly #begins: string;
  readonly #ends: string;
  #matches: ((path: string) => boolean) | undefined;

  constructor(glob: string, full: string) {
    this.glob = glob;
    this.#full = full;
    const last = full.slice(full.lastIndexOf("/") + 1);
    this.#begins = last.slice(0, last.search(/[*?[]|$/));
    this.#ends = last.slice(last.search(/[^*?\]]*$/));
  }

  fits(name: string): boolean {
    return name.startsWith(this.#begins) && name.endsWith(this.#ends);
  }

  matches(path: string): boolean {
    this.#matches ??= globMatcher(this.#full, { dot: true });
    return this.#matches(path);
  }
}

const FOLDERS_MAX = 10_000;

/** One spelling for all systems: forward slashes, composed characters, one letter case, no slash at the end. */
function normalized(path: string): string {
  const slashed = path.includes("\\") ? path.replaceAll("\\", "/") : path;
  const plain = slashed.endsWith("/") ? slashed.replace(/\/+$/, "") : slashed;
  return /[^ -~]/.test(plain) ? folded(plain) : plain.toLowerCase();
}

/** As the most lenient file systems compare names: some ignore invisible characters, and letters such as the long s equal others. */
function folded(text: string): string {
  const visible = text.normalize("NFC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  return visible.toUpperCase().toLowerCase().normalize("NFC");
}

/** A glob that matches exactly this path; `[x]` is the way to write a character that backslashes survive. */
export function literalGlob(path: string): string {
  return path.replace(/[*?[]/g, "[$&]");
}
