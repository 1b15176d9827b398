/** Text on its way into a terminal. */

/** Without characters that steer a terminal: they could end a bracketed paste, or press keys. */
export function pasteable(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/[^\P{Cc}\n\t]/gu, "");
}

/** How many lines a shell would run at once, were this pasted; 0: it runs none by itself. `isBracketed`: it waits for Enter. */
export function linesRun(text: string, isBracketed: boolean): number {
  return isBracketed ? 0 : text.split("\n").length - 1;
}

/** Longer texts are asked about, in characters. */
export const LONG_PASTE = 20_000;
