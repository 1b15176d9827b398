/** The words of a simple command of bash as far as they are known before it runs. */
import type { Assignment, Command, Word, WordPart } from "unbash";
import { ANYTHING } from "./subject.ts";

/** The program's word and its arguments; what only the shell knows is `ANYTHING`. Assignments in front are left out. */
export function wordsOf({ name, args }: Command): string[] {
  const given = args.map((arg) => (arg.type === "Word" ? wordText(arg) : assignmentText(arg)));
  return name ? [wordText(name), ...given] : given;
}

export function wordText({ value, parts }: Word): string {
  return parts ? parts.map(partText).join("") : value;
}

/** In one text. A word of which nothing is known may also be none, or several. */
export function joined(words: readonly string[]): string {
  let text = "";
  let isApart = false;
  for (const word of words) {
    const isUnknown = /^\0+$/.test(word);
    text += isApart && !isUnknown ? ` ${word}` : word;
    isApart = !isUnknown;
  }
  return text.replace(/\0+/g, ANYTHING);
}

function assignmentText({ name, value, index, append }: Assignment): string {
  const isPlain = value.type === "Word" && !index;
  return `${name}${append ? "+=" : "="}${isPlain ? wordText(value) : ANYTHING}`;
}

function partText(part: WordPart): string {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
      return part.value;
    case "AnsiCQuoted":
      // Bash reads a number in `\x{67}`, which it documents nowhere, and the parser none.
      return part.text.includes("\\x{") ? ANYTHING : part.value;
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.map(partText).join("");
    default:
      return ANYTHING;
  }
}
