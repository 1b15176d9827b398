/**
 * Matches paths against globs in polynomial time. A regular expression made of many stars backtracks exponentially on a
 * long name, and blocks everything else meanwhile.
 */

/** Whether a character, given as a string, fits. */
type Fits = (character: string) => boolean;
type Piece = "*" | Fits;
type Part = "**" | NamePattern;

interface NamePattern {
  readonly fits: (name: string) => boolean;
  /** Whether the part itself begins with a dot. */
  readonly beginsWithDot: boolean;
}

export interface GlobOptions {
  /** Whether wildcards match a dot at the beginning of a name. */
  readonly dot: boolean;
}

/**
 * `*` and `?` stay within a name, `**` as a whole name spans any number of folders, `[a-z]` and `[!a-z]` match one
 * character, `\` escapes a character. All names of the path must match.
 */
export function globMatcher(glob: string, { dot }: GlobOptions): (path: string) => boolean {
  // An escaped slash is still a slash.
  const plain = glob.replace(/\\(.)/gs, (pair, sign) => (sign === "/" ? sign : pair));
  // A trailing `/**` means what is in the folder, not the folder itself.
  const names = plain.replace(/\/\*\*$/, "/**/*").split("/");
  const parts = withoutRepeats(names.map(partOf));
  return (path) => matchesAll(parts, path.split("/"), dot);
}

function withoutRepeats(parts: readonly Part[]): Part[] {
  return parts.filter((part, index) => part !== "**" || parts[index - 1] !== "**");
}

/** On a mismatch only the last `**` takes one more folder; earlier ones need not be retried. */
function matchesAll(parts: readonly Part[], names: readonly string[], dot: boolean): boolean {
  let part = 0;
  let name = 0;
  let again: { part: number; name: number } | undefined;
  while (name < names.length) {
    const wanted = parts[part];
    const text = names[name] ?? "";
    if (wanted === "**") {
      part++;
      again = { part, name };
    } else if (wanted !== undefined && matchesName(wanted, text, dot)) {
      part++;
      name++;
    } else if (again && mayStartWith(names[again.name] ?? "", dot)) {
      again.name++;
      ({ part, name } = again);
    } else return false;
  }
  return parts.slice(part).every((left) => left === "**");
}

function mayStartWith(name: string, dot: boolean): boolean {
  return dot || !name.startsWith(".");
}

function matchesName({ fits, beginsWithDot }: NamePattern, text: string, dot: boolean): boolean {
  return (beginsWithDot || mayStartWith(text, dot)) && fits(text);
}

/** As with folders: on a mismatch the last `*` takes one more character. */
function fitsPieces(pieces: readonly Piece[], text: string): boolean {
  let piece = 0;
  let at = 0;
  let again: { piece: number; at: number } | undefined;
  while (at < text.length) {
    const wanted = pieces[piece];
    const character = characterAt(text, at);
    if (wanted === "*") {
      piece++;
      again = { piece, at };
    } else if (wanted?.(character)) {
      piece++;
      at += character.length;
    } else if (again) {
      again.at += characterAt(text, again.at).length;
      ({ piece, at } = again);
    } else return false;
  }
  return pieces.slice(piece).every((left) => left === "*");
}

/** A faster path for the usual pattern: literal texts with stars between them. */
function fitsTexts(first: string, others: readonly string[], name: string): boolean {
  const last = others.at(-1);
  if (last === undefined) return name === first;
  const end = name.length - last.length;
  if (end < first.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const text of others.slice(0, -1)) {
    const found = name.indexOf(text, at);
    if (found === -1) return false;
    at = found + text.length;
  }
  return at <= end;
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

/** A backslash and what it stands before, brackets with what is in them, or one character. */
const SIGNS = /\\.|\[[!^]?\]?(?:\\.|[^\]\\])*\]|\*+|./gsu;

function partOf(name: string): Part {
  if (name === "**") return "**";
  const beginsWithDot = /^\\?\./.test(name);
  if (!/[?[\\]/.test(name)) {
    const [first = "", ...others] = name.split(/\*+/);
    return { fits: (text) => fitsTexts(first, others, text), beginsWithDot };
  }
  const pieces = (name.match(SIGNS) ?? []).map(pieceOf);
  return { fits: (text) => fitsPieces(pieces, text), beginsWithDot };
}

function pieceOf(sign: string): Piece {
  if (sign.startsWith("*")) return "*";
  if (sign === "?") return () => true;
  if (sign.length > 1 && sign.startsWith("[")) return oneOf(sign.slice(1, -1));
  const plain = sign.length > 1 && sign.startsWith("\\") ? sign.slice(1) : sign;
  return (character) => character === plain;
}

const RANGES = /(\\?.)-(\\?.)|\\?./gsu;

/** Parses what is between brackets. */
function oneOf(written: string): Fits {
  const isNot = /^[!^]/.test(written);
  const ranges = [...written.slice(isNot ? 1 : 0).matchAll(RANGES)].map(([all, from = all, to = from]) => ({
    from: codeOf(from),
    to: codeOf(to),
  }));
  return (character) => {
    const code = character.codePointAt(0) ?? 0;
    return isNot !== ranges.some(({ from, to }) => from <= code && code <= to);
  };
}

function codeOf(sign: string): number {
  return (sign.length > 1 && sign.startsWith("\\") ? sign.slice(1) : sign).codePointAt(0) ?? 0;
}

/** Expands `{a,b}`, also nested; braces without a choice stay as they are. Undefined if the result exceeds `most` characters. */
export function withChoices(glob: string, most: number): string[] | undefined {
  const done: string[] = [];
  const pending = [glob];
  let length = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const choice = firstChoice(next);
    if (choice) pending.push(...choice.of.map((one) => choice.before + one + choice.after));
    else done.push(next);
    length += next.length;
    if (length > most) return undefined;
  }
  return done;
}

/** Globs separated by commas; a comma within braces or brackets belongs to its glob. */
export function separateGlobs(globs: string): readonly string[] {
  const choice = firstChoice(`{${globs}}`);
  if (choice?.before !== "" || choice.after !== "") return [globs];
  return choice.of.map((glob) => glob.trim()).filter((glob) => glob !== "");
}

interface Choice {
  readonly before: string;
  readonly of: readonly string[];
  readonly after: string;
}

const SIGNS_OF_CHOICE = /\\.|\[[!^]?\]?(?:\\.|[^\]\\/])*\]|./gsu;

/** The first `{` that has a comma and an end. */
function firstChoice(glob: string): Choice | undefined {
  const open: { at: number; commas: number[] }[] = [];
  const found: { at: number; commas: number[]; end: number }[] = [];
  for (const { 0: sign, index } of glob.matchAll(SIGNS_OF_CHOICE)) {
    if (sign === "{") open.push({ at: index, commas: [] });
    else if (sign === ",") open.at(-1)?.commas.push(index);
    else if (sign === "}") {
      const closed = open.pop();
      if (closed && closed.commas.length > 0) found.push({ ...closed, end: index });
    }
  }
  const first = found.sort((a, b) => a.at - b.at)[0];
  if (!first) return undefined;
  const ends = [...first.commas, first.end];
  const of = ends.map((end, index) => glob.slice((ends[index - 1] ?? first.at) + 1, end));
  return { before: glob.slice(0, first.at), of, after: glob.slice(first.end + 1) };
}
