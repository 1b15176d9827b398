/** A file's text with its language's colours, in a terminal's signs: answers are drawn with those. What it hides is shown. */
import { highlight } from "./highlight.ts";
import type { Language } from "./languages.ts";
import { readTextIn } from "./read-text.ts";

const RED = "31";
const GREEN = "32";
const YELLOW = "33";
const BLUE = "34";
const PURPLE = "35";
const FAINT = "2";
const FAINT_ITALIC = "2;3";

/** As in the preview of files. */
const SIGNS: Readonly<Record<string, string>> = {
  ...{ keyword: PURPLE, literal: PURPLE, "selector-tag": PURPLE, section: PURPLE },
  ...{ string: GREEN, addition: GREEN, regexp: GREEN, symbol: GREEN },
  ...{ title: BLUE, name: BLUE, attr: BLUE, built_in: BLUE, attribute: BLUE },
  ...{ number: YELLOW, type: YELLOW, meta: YELLOW, variable: YELLOW },
  ...{ comment: FAINT_ITALIC, quote: FAINT_ITALIC, deletion: RED },
};

export function inTerminalColours(output: string, language: Language): string {
  const { numbers, lines, rest } = readTextIn(output);
  const coloured = highlight(lines.join("\n"), language).map((line) =>
    line.map(({ text, kind = "" }) => signed(text, SIGNS[kind])).join(""),
  );
  return coloured.map((line, at) => signed(numbers[at] ?? "", FAINT) + line).join("\n") + rest;
}

function signed(text: string, sign: string | undefined): string {
  return sign === undefined || text === "" ? text : `\x1b[${sign}m${text}\x1b[0m`;
}
