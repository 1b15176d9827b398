/** The colours of a command's output: a machine's answer is plain, what came live still has them. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what it looks for
const SGR = /\x1b\[[\d;:]*m/g;

/** The answer's text with the colours of `live` where that says the same; else the answer's text as it is. */
export function withColours(live: string | undefined, output: string): string {
  if (!live?.includes("\x1b[")) return output;
  const lines = live.replaceAll("\r\n", "\n");
  const plain = withoutColours(lines);
  return plain !== "" && output.startsWith(plain) ? `${lines}\x1b[0m${output.slice(plain.length)}` : output;
}

export function withoutColours(text: string): string {
  return text.replace(SGR, "");
}
