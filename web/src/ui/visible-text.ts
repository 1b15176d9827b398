/** Text in which every character can be seen. The relay's questions come that way, and are edited that way too. */

/** As in shared/question.ts. */
const HIDDEN =
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|\p{Surrogate}|\p{Private_Use}/gu;

/** A name on one line, with each hidden character written out, such as `\u{202E}`. */
export function visibleLine(text: string): string {
  return text.replace(/[\n\t]/g, " ").replace(HIDDEN, (char) => `\\u{${hexOf(char.codePointAt(0) ?? 0)}}`);
}

/** The same of several lines. */
export function visibleLines(text: string): string {
  return text.replaceAll("\r\n", "\n").split("\n").map(visibleLine).join("\n");
}

/** Foreign words in a message of ours: on one line, and never so long that they push the rest away. */
export function shortLine(text: string): string {
  return visibleLine(text.length > MOST ? `${text.slice(0, MOST)}…` : text);
}

/** Characters of foreign words in a message. */
const MOST = 600;

/** A name in a sentence. One that is written from right to left changes the order of nothing around it. */
export function nameInText(name: string): string {
  const line = visibleLine(name);
  return RIGHT_TO_LEFT.test(line) ? `\u2068${line}\u2069` : line;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A question's input as JSON to be edited: indented, hidden characters as JSON's own escapes. As it is if it can't be read. */
export function editableJson(shown: string): string {
  try {
    return visibleJson(JSON.parse(withJsonEscapes(shown)), 2);
  } catch {
    return shown;
  }
}

/** JSON with each hidden character as JSON's own escape, on one line or indented by so many spaces. */
export function visibleJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(HIDDEN, escaped);
}

/** `\u{202E}` becomes `\u202E`, unless its backslash is itself escaped. */
function withJsonEscapes(shown: string): string {
  return shown.replace(/\\(?:u\{([0-9A-F]+)\}|[\s\S])/g, (all, hex?: string) =>
    hex ? escaped(String.fromCodePoint(Number.parseInt(hex, 16))) : all,
  );
}

function escaped(char: string): string {
  const units = Array.from({ length: char.length }, (_, at) => char.charCodeAt(at));
  return units.map((unit) => `\\u${hexOf(unit).padStart(4, "0")}`).join("");
}

function hexOf(number: number): string {
  return number.toString(16).toUpperCase();
}
