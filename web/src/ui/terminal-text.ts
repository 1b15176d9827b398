/** Output as text: what would steer a terminal is shown as a sign, and steers nothing. Colours: see `ansi/`. */

/** `\x1b[31m` becomes `␛[31m`. A line that was written over, as progress bars are, stands on a line of its own. */
export function visible(text: string): string {
  return (
    text
      .replaceAll("\r\n", "\n")
      .replace(/\r+/g, "␍\n")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
      .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, signOf)
  );
}

function signOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "␡" : `\\x${code.toString(16)}`;
}
