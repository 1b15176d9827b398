/** What a terminal answers by itself when a program asks it, and what it does not do because a program says so. */
import type { Terminal } from "@xterm/xterm";

/** `mayAnswer`: no other screen answers in its place; a program that gets two answers takes the second for typed text. */
export function bound({ parser }: Terminal, mayAnswer: () => boolean): void {
  const silent = () => !mayAnswer();
  for (const id of QUESTIONS) parser.registerCsiHandler(id, silent);
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, silent);
  for (const colour of [4, 10, 11, 12])
    parser.registerOscHandler(colour, (data) => data.includes("?") && silent());
  // A link whose address is not the text that is shown leads elsewhere than it says.
  parser.registerOscHandler(8, () => true);
  // The clipboard is the person's.
  parser.registerOscHandler(52, () => true);
}

/** Who are you (DA1 to 3, XTVERSION), how are you and where is the cursor (DSR), which modes are on (DECRQM). */
const QUESTIONS = [
  { final: "c" },
  { prefix: ">", final: "c" },
  { prefix: "=", final: "c" },
  { prefix: ">", final: "q" },
  { final: "n" },
  { prefix: "?", final: "n" },
  { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" },
] as const;
