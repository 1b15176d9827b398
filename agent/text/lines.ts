/** Collects one page of lines from a stream of bytes, and keeps nothing of the others. */

export interface RawLine {
  /** Its first bytes, without the line end. */
  readonly bytes: Buffer;
  /** Of the whole line, in bytes. */
  readonly length: number;
}

export interface PageRequest {
  /** From 1. */
  readonly firstLine: number;
  readonly maxLines: number;
  /** Limit on all lines together, as counted by `charsOf`. The first line is always taken. */
  readonly maxChars: number;
  /** How many characters a line takes up, including what is shown around it. */
  readonly charsOf: (line: RawLine, number: number) => number;
  /** How many bytes of a line are kept. */
  readonly keepPerLine: number;
  /** A longer line ends the page: its end is not searched for. In bytes. */
  readonly longestLine: number;
  /** Whether to read on to the end of the file when the page is full, to count the lines. */
  readonly countAll: boolean;
}

export interface RawPage {
  readonly lines: readonly RawLine[];
  /** The line after the page, if there is one. */
  readonly nextLine: number | undefined;
  /** Lines of the whole file, if the end was reached. */
  readonly totalLines: number | undefined;
  /** Whether the last line was too long to find its end. */
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

/** Calls `onLineStart` about once per piece, so that a later page can start there. */
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
  /** The number of the current line. */
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

  /** Whether the page is full, and nothing after it is needed. */
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

  /** Ends the page before the end of the file. */
  cutShort(): RawPage {
    if (this.endless) {
      this.#take(false);
      this.line++;
    }
    this.#nextLine ??= this.line;
    return this.#page(undefined);
  }

  /** Ends the page at the end of the file: what is left is a last line without a line end. */
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
