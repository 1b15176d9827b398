/** Text on its way into a terminal. */
import { plural } from "../../ui/format.ts";
import { shortLine } from "../../ui/visible-text.ts";

/** Longer texts are asked about, in characters. */
const LONG_PASTE = 20_000;

/** Without characters that steer a terminal: they could end a bracketed paste, or press keys. */
export function pasteable(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/[^\P{Cc}\n\t]/gu, "");
}

/** How many lines a shell would run at once, were this pasted; 0: it runs none by itself. `isBracketed`: it waits for Enter. */
export function linesRun(text: string, isBracketed: boolean): number {
  return isBracketed ? 0 : text.split("\n").length - 1;
}

/** What is asked before it is pasted; undefined: nothing. `isBracketed`: the program takes what is pasted as one text. */
export function pasteQuestion(text: string, isBracketed: boolean): string | undefined {
  const lines = linesRun(text, isBracketed);
  if (lines > 0)
    return `The program in the terminal would run ${plural(lines, "line")} of this at once: ${shortLine(text.slice(0, 200))}`;
  if (text.length > LONG_PASTE) return `This is long: ${text.length.toLocaleString("en")} characters.`;
  return undefined;
}
