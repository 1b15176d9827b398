/** Makes foreign text safe for a log or a terminal: it stays on its line, and changes nothing around it. */

/**
 * Control characters, including escapes; what some readers take for a line end; marks that change the text direction; and
 * lone surrogates, which UTF-8 cannot encode.
 */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff]|\p{Surrogate}/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The text with each such character escaped (`\n`, `\u{1b}`), cut to at most `maxChars`. */
export function oneLine(text: string, maxChars: number): string {
  const cut = text.length > maxChars ? `${text.slice(0, maxChars - 1)}…` : text;
  return cut.replace(UNSAFE, (char) => SHORT[char] ?? `\\u{${char.codePointAt(0)?.toString(16)}}`);
}
