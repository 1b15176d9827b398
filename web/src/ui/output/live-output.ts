/** The output of a call as it comes: the last of it, in pieces, with notes where some is missing. */
import { AnsiReader, type Segment } from "../ansi/reader.ts";

/** Characters that are kept of what comes. */
const KEPT = 200_000;
/** Characters of a piece: it goes as a whole once there are too many. */
const PIECE = 4_000;
/** Pause before what has come is shown, in milliseconds. */
const SHOW_AFTER = 100;

export interface Piece {
  readonly id: number;
  /** In characters as they came. */
  readonly length: number;
  readonly segments: readonly Segment[];
}

export interface LiveView {
  readonly pieces: readonly Piece[];
  /** Characters that came before those that are kept. */
  readonly leftOut: number;
}

export type OutputEvent =
  | { readonly type: "output"; readonly offset: number; readonly data: string }
  | { readonly type: "gap"; readonly frames: number };

export class LiveOutput {
  #view: LiveView = { pieces: [], leftOut: 0 };
  readonly #reader = new AnsiReader();
  readonly #listeners = new Set<() => void>();
  /** Came, and is not shown yet. */
  #waiting = "";
  /** All that came; undefined: some is missing, or left out. */
  #whole: string | undefined = "";
  /** Where the next event should begin, in bytes of the job's log; undefined: not known. */
  #next: number | undefined = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastId = 0;

  get view(): LiveView {
    return this.#view;
  }

  /** As it came, with colours; undefined: not all of it is here. */
  get whole(): string | undefined {
    return this.#whole;
  }

  get isEmpty(): boolean {
    return this.#view.pieces.length === 0 && this.#waiting === "";
  }

  /** Calls back after the view changed, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  take(event: OutputEvent): void {
    if (event.type === "gap") {
      this.#next = undefined;
      return this.#addMissing(`${event.frames} piece${event.frames === 1 ? "" : "s"}`);
    }
    const { offset, data } = event;
    if (this.#next !== undefined && offset > this.#next) this.#addMissing(`${offset - this.#next} bytes`);
    // What was no UTF-8 does not tell its length.
    this.#next = data.includes("\uFFFD") ? undefined : offset + new TextEncoder().encode(data).length;
    this.#add(data);
  }

  /** Shows what has come. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting === "") return;
    const pieces = [...this.#view.pieces];
    for (const text of cutAtLines(this.#waiting)) this.#append(pieces, text);
    this.#waiting = "";
    this.#view = lastOf(pieces, this.#view.leftOut);
    for (const listener of this.#listeners) listener();
  }

  #append(pieces: Piece[], text: string): void {
    const segments = this.#reader.read(text);
    const last = pieces.at(-1);
    if (!last || last.length + text.length > PIECE)
      pieces.push({ id: ++this.#lastId, length: text.length, segments });
    else
      pieces[pieces.length - 1] = {
        id: last.id,
        length: last.length + text.length,
        segments: [...last.segments, ...segments],
      };
  }

  #addMissing(what: string): void {
    this.#add(`\n[${what} of live output are missing here]\n`);
    this.#whole = undefined;
  }

  #add(text: string): void {
    const isKept = this.#whole !== undefined && this.#whole.length + text.length <= KEPT;
    this.#whole = isKept ? this.#whole + text : undefined;
    this.#waiting += text;
    // A flood must not pile up while a timer waits.
    if (this.#waiting.length > KEPT) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), SHOW_AFTER);
  }
}

/** What is kept of the pieces. */
function lastOf(pieces: readonly Piece[], leftOut: number): LiveView {
  let over = pieces.reduce((sum, { length }) => sum + length, 0) - KEPT;
  let gone = 0;
  let goneLength = 0;
  for (let first = pieces[gone]; first && over >= first.length; first = pieces[gone]) {
    over -= first.length;
    goneLength += first.length;
    gone++;
  }
  return { pieces: pieces.slice(gone), leftOut: leftOut + goneLength };
}

/** In parts of a piece's length at the most, which end with a line where there is one. */
function cutAtLines(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  while (text.length - from > PIECE) {
    const end = text.lastIndexOf("\n", from + PIECE - 1) + 1;
    const to = end > from ? end : wholeCharacter(text, from + PIECE);
    parts.push(text.slice(from, to));
    from = to;
  }
  return [...parts, text.slice(from)];
}

/** No character is cut in two. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
