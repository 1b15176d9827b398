/** Reads a terminal's text piece by piece: colours become styles, all else that would steer a terminal is shown as a sign. */
import { visible } from "../terminal-text.ts";
import { PLAIN, styledBy, type TextStyle } from "./style.ts";

export interface Segment {
  readonly text: string;
  readonly style: TextStyle;
}

/** Each costs an element on the page: of a piece that changes colour more often, the rest has none. */
const MOST_SEGMENTS = 5_000;
/** Longer ones are no colours, in characters. */
const LONGEST = 128;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what it looks for
const SGR = /\x1b\[([\d;:]{0,128})m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what it looks for
const UNFINISHED = /(?:\x1b(?:\[[\d;:]*)?|\r)$/;

export class AnsiReader {
  #style: TextStyle = PLAIN;
  /** The end of a piece that says nothing without the next: half of a colour, or of a line's end. */
  #held = "";

  read(piece: string): Segment[] {
    const all = this.#held + piece;
    const tail = UNFINISHED.exec(all.slice(-LONGEST))?.[0] ?? "";
    this.#held = tail;
    return this.#segments(tail ? all.slice(0, -tail.length) : all);
  }

  /** What was held back. */
  end(): Segment[] {
    const rest = this.#held;
    this.#held = "";
    return this.#segments(rest);
  }

  #segments(text: string): Segment[] {
    const segments: Segment[] = [];
    let from = 0;
    for (const match of text.matchAll(SGR)) {
      this.#add(segments, text.slice(from, match.index));
      this.#style = styledBy(this.#style, match[1] ?? "");
      from = match.index + match[0].length;
    }
    this.#add(segments, text.slice(from));
    return segments;
  }

  #add(segments: Segment[], text: string): void {
    if (!text) return;
    const style = segments.length < MOST_SEGMENTS ? this.#style : PLAIN;
    const last = segments.at(-1);
    if (last?.style === style) segments[segments.length - 1] = { text: last.text + visible(text), style };
    else segments.push({ text: visible(text), style });
  }
}

export function segmentsOf(text: string): Segment[] {
  const reader = new AnsiReader();
  return [...reader.read(text), ...reader.end()];
}
