/**
 * A command's output without what only a terminal understands: colours, titles, states of a line that were written over.
 * The job's log keeps all of it, and so do offsets, live output and what is read raw.
 */
import { toolName } from "../core/tool-names.ts";

export interface PlainOutput {
  readonly text: string;
  /** Something was left out. */
  readonly isChanged: boolean;
  /** States of lines that were written over, as those of progress bars. */
  readonly overwritten: number;
}

const ESC = "\u001b";
const BELL = "\u0007";
const BACKSPACE = "\b";

/** Sequences of ECMA-48 and xterm: those with a text in them, those with parameters, those of two or three signs. */
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
/** Clears a line, or the rest of it. */
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

/** What is said of states that were left out of a job's output; undefined: none were. */
export function overwrittenNote({ overwritten }: PlainOutput, job: string): string | undefined {
  if (overwritten === 0) return undefined;
  const states = overwritten === 1 ? "1 state of a line" : `${overwritten} states of lines`;
  return `${states} overwritten by \\r left out: ${toolName("BashOutput")} shows all with raw=true, bash_id "${job}"`;
}

/** Each state that a line was in, for callers that wait for one of them. */
export function statesOf(text: string): string[] {
  return withErasures(text)
    .replaceAll(ESC, "")
    .split(/\r*\n|\r+/);
}

/** Without other sequences; an erasure is a sign by itself. */
function withErasures(text: string): string {
  return text.replace(SEQUENCES, (sequence) => (ERASE.test(sequence) ? ESC : ""));
}

/** What is left of a line in the end, and how many other states it had. */
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

/** A backspace takes the character before it away: what follows is written over it. */
function withoutBackspaces(text: string): string {
  if (!text.includes(BACKSPACE)) return text;
  const shown: string[] = [];
  for (const character of text) {
    if (character === BACKSPACE) shown.pop();
    else shown.push(character);
  }
  return shown.join("");
}

/** Bytes of a sequence that are looked for at the end; a longer one is taken for text. */
const LONGEST_OPEN = 256;
const OPEN = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*|\\][^${BELL}${ESC}\\n]*${ESC}?|[ -/]*)$`);

/** Without the beginning of a sequence at the end of bytes that go on. */
export function withoutOpenSequence(bytes: Buffer): Buffer {
  const from = Math.max(0, bytes.length - LONGEST_OPEN);
  const open = OPEN.exec(bytes.toString("latin1", from));
  return open ? bytes.subarray(0, from + open.index) : bytes;
}
