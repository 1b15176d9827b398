/** Collects one page of lines from a flow of bytes, and keeps nothing of the others. */

export interface RawLine {
  /** Its first bytes, without the line's end; all of them unless `length` is more. */
  readonly bytes: Buffer;
  readonly length: number;
}

export interface PageRequest {
  /** Counted from 1. */
  readonly firstLine: number;
  readonly maxLines: number;
  /** Characters of all lines together, as `charsOf` counts them; the first line is taken anyway. */
  readonly maxChars: number;
  /** What a line takes of the page, with all that is told around it. */
  readonly charsOf: (line: RawLine, number: number) => number;
  /** Bytes kept of one line. */
  readonly keepPerLine: number;
  /** A line longer than this ends the page, in bytes: its end is not looked for. */
  readonly longestLine: number;
  /** Go on to the end when the page is full, to count the lines. */
  readonly countAll: boolean;
}

export interface RawPage {
  readonly lines: readonly RawLine[];
  /** The line after the page, when there is one. */
  readonly nextLine: number | undefined;
  /** Lines of the whole file, when the end was reached. */
  readonly totalLines: number | undefined;
  /** The last line was too long to find its end. */
  readonly endless: boolean;
  readonly eol: "lf" | "crlf" | "mixed" | "none";
}

/** Where a line begins. */
export interface LineStart {
  readonly line: number;
  readonly offset: number;
}

const LF = 10;
const CR = 13;

/** `onLineStart` is told of line starts now and then (about once per piece), for a later start from there. */
export async function collectPage(
  pieces: AsyncIterable<Buffer>,
  start: LineStart,
  request: PageRequest,
  onLineStart: (start: LineStart) => void = () => undefined,
): Promise<RawPage> {
  const page = new PageBuilder(start.line, request);
  let offset = start.offset;
  for await (const piece of pieces) {
    if (page.isDone) return page.cutShort();
    let noted = false;
    for (let from = 0; from < piece.length; ) {
      const end = piece.indexOf(LF, from);
      page.add(piece.subarray(from, end === -1 ? piece.length : end));
      if (page.endless) return page.cutShort();
      if (end === -1) break;
      page.endLine();
      from = end + 1;
      if (!noted) {
        noted = true;
        onLineStart({ line: page.line, offset: offset + from });
      }
      if (page.isDone && from < piece.length) return page.cutShort();
    }
    offset += piece.length;
  }
  return page.finish();
}

class PageBuilder {
  /** The line that is being read. */
  line: number;
  endless = false;
  readonly #request: PageRequest;
  readonly #lines: RawLine[] = [];
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #length = 0;
  #lastByte = 0;
  #pageChars = 0;
  #nextLine: number | undefined;
  #crlf = 0;
  #lf = 0;

  constructor(line: number, request: PageRequest) {
    this.line = line;
    this.#request = request;
  }

  /** The page is full, and nothing after it is wanted. */
  get isDone(): boolean {
    return this.#isFull && !this.#request.countAll;
  }

  get #isFull(): boolean {
    return this.#nextLine !== undefined || this.#lines.length >= this.#request.maxLines;
  }

  add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#isFull) this.#nextLine ??= this.line;
    this.#length += bytes.length;
    this.#lastByte = bytes[bytes.length - 1] ?? 0;
    if (this.line < this.#request.firstLine || this.#isFull) return;
    const room = this.#request.keepPerLine - this.#keptBytes;
    if (room > 0) {
      const part = Buffer.from(bytes.subarray(0, room));
      this.#kept.push(part);
      this.#keptBytes += part.length;
    }
    this.endless = this.#length > this.#request.longestLine;
  }

  endLine(): void {
    const crlf = this.#length > 0 && this.#lastByte === CR;
    if (this.line >= this.#request.firstLine && !this.#isFull) {
      if (crlf) this.#crlf++;
      else this.#lf++;
    }
    this.#take(crlf);
    this.line++;
  }

  #take(crlf: boolean): void {
    const { firstLine, maxChars, charsOf } = this.#request;
    if (this.line >= firstLine) {
      if (this.#isFull) this.#nextLine ??= this.line;
      else {
        const length = crlf ? this.#length - 1 : this.#length;
        const line = { bytes: Buffer.concat(this.#kept).subarray(0, length), length };
        this.#pageChars += charsOf(line, this.line);
        if (this.#lines.length > 0 && this.#pageChars > maxChars) this.#nextLine = this.line;
        else this.#lines.push(line);
      }
    }
    this.#kept = [];
    this.#keptBytes = 0;
    this.#length = 0;
    this.#lastByte = 0;
  }

  /** There is more, and it was not looked at. */
  cutShort(): RawPage {
    if (this.endless) {
      this.#take(false);
      this.line++;
    }
    this.#nextLine ??= this.line;
    return this.#page(undefined);
  }

  /** The bytes have ended: what is left is a last line without an end. */
  finish(): RawPage {
    if (this.#length > 0) {
      this.#take(false);
      this.line++;
    }
    return this.#page(this.line - 1);
  }

  #page(totalLines: number | undefined): RawPage {
    const eol = this.#crlf > 0 ? (this.#lf > 0 ? "mixed" : "crlf") : this.#lf > 0 ? "lf" : "none";
    return { lines: this.#lines, nextLine: this.#nextLine, totalLines, endless: this.endless, eol };
  }
}
