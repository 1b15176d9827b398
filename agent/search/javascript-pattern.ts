/** Translates a ripgrep pattern (Rust's regex) to JavaScript, with the same matches: in a line without its end, or a text. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { LineQuery } from "./engine.ts";

export interface JavascriptPattern {
  readonly source: string;
  readonly flags: string;
}

/** Throws MatrxError `INVALID_PARAMETERS`. */
export function javascriptPattern({
  pattern,
  literal,
  caseInsensitive,
  multiline,
}: Pick<LineQuery, "pattern" | "literal" | "caseInsensitive" | "multiline">): JavascriptPattern {
  const inline = literal ? null : /^\(\?([is]+)\)/.exec(pattern);
  const written = inline ? pattern.slice(inline[0].length) : pattern;
  const ignoresCase = caseInsensitive || (inline?.[1]?.includes("i") ?? false);
  const flags = `g${ignoresCase ? "i" : ""}s`;
  if (literal) return { source: written.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), flags: `${flags}u` };
  // A pattern that cannot be translated may be valid JavaScript unchanged.
  const ways: JavascriptPattern[] = [
    { source: inOtherWords(written, multiline), flags: `${flags}u` },
    { source: written, flags },
  ];
  let refusal: unknown;
  for (const { source, flags } of ways) {
    try {
      new RegExp(source, flags);
      return { source, flags };
    } catch (error) {
      refusal = error;
    }
  }
  throw badPattern(refusal);
}

const WORD_SIGNS = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
const WORD = `[${WORD_SIGNS}]`;
const WORD_BEGINS = `(?<!${WORD})(?=${WORD})`;
const WORD_ENDS = `(?<=${WORD})(?!${WORD})`;

/** Escapes that mean something else, or nothing, in JavaScript. */
const ESCAPES: Partial<Record<string, string>> = {
  w: WORD,
  W: `[^${WORD_SIGNS}]`,
  d: "\\p{Nd}",
  D: "\\P{Nd}",
  s: "\\p{White_Space}",
  S: "\\P{White_Space}",
  b: `(?:${WORD_BEGINS}|${WORD_ENDS})`,
  B: `(?!${WORD_BEGINS}|${WORD_ENDS})`,
  "<": WORD_BEGINS,
  ">": WORD_ENDS,
  a: "\\x07",
  "-": "-",
};
const ESCAPES_IN_CLASS: Partial<Record<string, string>> = {
  ...ESCAPES,
  w: WORD_SIGNS,
  W: "\\W",
  b: "\\b",
  B: "\\B",
  "<": "<",
  ">": ">",
  "-": "\\-",
};
const POSIX_CLASSES: Partial<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7f",
  blank: "\\t ",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};
/** Ends of lines are LF, CR LF and CR. */
const LINE_BEGINS = "(?:^|(?<=\\n)|(?<=\\r)(?!\\n))";
const LINE_ENDS = "(?:$|(?=\\r)|(?<!\\r)(?=\\n))";

const OUTSIDE = /\\(?:[pP]\{[^}]*\}|x\{[0-9a-fA-F]+\}|.)|\[\^?\]?|\(\?P<|\{\d+(?:,\d*)?\}|./suy;
const IN_CLASS = /\\(?:[pP]\{[^}]*\}|x\{[0-9a-fA-F]+\}|.)|\[:\w+:\]|./suy;

function inOtherWords(pattern: string, isMultiline: boolean): string {
  let words = "";
  let isInClass = false;
  for (let at = 0; at < pattern.length; ) {
    const next: RegExp = isInClass ? IN_CLASS : OUTSIDE;
    next.lastIndex = at;
    const [token = ""]: string[] = next.exec(pattern) ?? [];
    // A trailing backslash: JavaScript reports the error.
    if (token === "") return pattern;
    at += token.length;
    words += isInClass ? inClass(token) : outside(token, isMultiline);
    if (isInClass) isInClass = token !== "]";
    else isInClass = token.startsWith("[");
  }
  return words;
}

function outside(token: string, isMultiline: boolean): string {
  if (token.startsWith("\\")) {
    if (isMultiline && token === "\\A") return "^";
    if (isMultiline && token === "\\z") return "$";
    return escaped(token, ESCAPES);
  }
  // A bracket that comes first in a class belongs to it.
  if (token.startsWith("[")) return token.replace("]", "\\]");
  switch (token) {
    case "]":
    case "{":
    case "}":
      return `\\${token}`;
    case "(?P<":
      return "(?<";
    case "^":
      return isMultiline ? LINE_BEGINS : token;
    case "$":
      return isMultiline ? LINE_ENDS : token;
    case ".":
      return "[^]";
    default:
      return token;
  }
}

function inClass(token: string): string {
  if (token.startsWith("[:")) return POSIX_CLASSES[token.slice(2, -2)] ?? token;
  return token.startsWith("\\") ? escaped(token, ESCAPES_IN_CLASS) : token;
}

function escaped(token: string, others: Partial<Record<string, string>>): string {
  const sign = token.slice(1);
  if (sign.startsWith("x{")) return `\\u${sign.slice(1)}`;
  const other = others[sign];
  if (other !== undefined) return other;
  // In JavaScript an unnecessary backslash is an error.
  return /^["'#%&,:;=@`~!<>\s]$/.test(sign) ? sign : token;
}

function badPattern(cause: unknown): MatrxError {
  return toolError(
    "INVALID_PARAMETERS",
    `pattern: ${cause instanceof Error ? cause.message : "it is not valid"}`,
    {
      hint: "Correct the pattern, or search for it literally with literal=true",
      details: { field: "pattern" },
      cause,
    },
  );
}
