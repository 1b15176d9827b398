/** Output as text: colours are left out, and what else would steer a terminal is shown as a sign, and steers nothing. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const COLOURS = /\x1b\[[\d;]*m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** A line that was written over, as progress bars are, stands on a line of its own. */
export function visibleOutput(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(/\r+/g, "␍\n").replace(COLOURS, "").replace(CONTROLS, signOf);
}

function signOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "␡" : `\\x${code.toString(16)}`;
}
