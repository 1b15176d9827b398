/** A line of a text as it is shown, with nothing hidden in it. */
import { visibleLine } from "../visible-text.ts";

/** Tabs stay, and line ends of both kinds are none of the text. */
export function shownText(text: string): string {
  return text.replace(/\r$/, "").split("\t").map(visibleLine).join("\t");
}
