/**
 * A command's output without what only a terminal understands: colours, titles, and states of a line that were
 * overwritten. The job's log and its offsets, live output and raw reads still have all of it.
 */
import { toolName } from "./tool-names.ts";

export interface PlainOutput {
  readonly text: string;
  /** Whether something was left out. */
  readonly isChanged: boolean;
  /** How many states of lines were overwritten, as progress bars do. */
  readonly overwritten: number;
}

const ESC = "\u001b";
const BELL = "\u0007";
const BACKSPACE = "\b";

/** Escape sequences of ECMA-48 and xterm: with a text, with parameters, and of two or three characters. */
const SEQUENCES = new RegExp(
  [
    `${ESC}\\][^${BELL}${ESC}\\n]*(?:${BELL}|${ESC}\\\\)`,
    `${ESC}[PX^_][^${ESC}\\n]*${ESC}\\\\`,
    `${ESC}\\[[0-?]*[ -/]*[@-~]`,
    `${ESC}[ -/]*[0-~]`,
    ESC,
    BELL,
  ].join("|"),
  "g",
);
/** Erases a line, or the rest of it. */
const ERASE = new RegExp(`^${ESC}\\[[0-2]?K$`);
const STEERS = new RegExp(`[${ESC}${BELL}${BACKSPACE}]|\\r(?!\\n)`);

export function plainOutput(text: string): PlainOutput {
  if (!STEERS.test(text)) return { text, isChanged: false, overwritten: 0 };
  let overwritten = 0;
  const lines = withErasures(text)
    .split("\n")
    .map((line, index, { length }) => {
      const folded = lastState(line);
      overwritten += folded.before;
      // Part of the line's end.
      return line.endsWith("\r") && index < length - 1 ? `${folded.text}\r` : folded.text;
    });
  const plain = lines.join("\n");
  return { text: plain, isChanged: plain !== text, overwritten };
}

/** A note on overwritten states that were left out of a job's output, if any. */
export function overwrittenNote({ overwritten }: PlainOutput, job: string): string | undefined {
  if (overwritten === 0) return undefined;
  const states = overwritten === 1 ? "1 state of a line" : `${overwritten} states of lines`;
  return `${states} overwritten by \\r left out: ${toolName("BashOutput")} shows all with raw=true, bash_id "${job}"`;
}

/** Every state of every line, for callers that wait for one of them. */
export function statesOf(text: string): string[] {
  return withErasures(text)
    .replaceAll(ESC, "")
    .split(/\r*\n|\r+/);
}

/** Removes escape sequences, but leaves an ESC for each erasure. */
function withErasures(text: string): string {
  return text.replace(SEQUENCES, (sequence) => (ERASE.test(sequence) ? ESC : ""));
}

/** The final state of a line, and how many others it had. */
function lastState(line: string): { text: string; before: number } {
  let text = "";
  let before = 0;
  for (const state of line.split("\r")) {
    const isErased = state.startsWith(ESC);
    const shown = withoutBackspaces(state.replaceAll(ESC, ""));
    if (shown === "" && !isErased) continue;
    if (text !== "") before++;
    text = shown;
  }
  return { text, before };
}

/** A backspace removes the character before it, because what follows overwrites it. */
function withoutBackspaces(text: string): string {
  if (!text.includes(BACKSPACE)) return text;
  const shown: string[] = [];
  for (const character of text) {
    if (character === BACKSPACE) shown.pop();
    else shown.push(character);
  }
  return shown.join("");
}

/** How many bytes at the end are searched for an unfinished sequence; a longer one counts as text. */
const LONGEST_OPEN = 256;
const OPEN = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*|\\][^${BELL}${ESC}\\n]*${ESC}?|[ -/]*)$`);

/** Removes an unfinished escape sequence at the end. */
export function withoutOpenSequence(bytes: Buffer): Buffer {
  const from = Math.max(0, bytes.length - LONGEST_OPEN);
  const open = OPEN.exec(bytes.toString("latin1", from));
  return open ? bytes.subarray(0, from + open.index) : bytes;
}
