/** Collects a page of matching lines, each read from a file that was opened for this caller. */
import { closeSync } from "node:fs";
import { textOfName } from "../text/display-name.ts";
import { CheckedFiles } from "./checked-files.ts";
import { type Cursor, orderKey } from "./cursor.ts";
import { cutShort, type Engine, type Hit, type LineQuery, type Run } from "./engine.ts";
import { FileText } from "./file-text.ts";

export interface MatchingLine {
  /** Relative to the scope's folder. */
  readonly relative: Buffer;
  /** Canonical. */
  readonly path: Buffer;
  readonly line: number;
  /** In bytes from 1; undefined for a line of context. */
  readonly column: number | undefined;
  readonly text: string;
}

export interface MatchingLines {
  /** In order of path and line. */
  readonly lines: readonly MatchingLine[];
  readonly matches: number;
  /** Why it ended before everything was searched. */
  readonly stopped: "max_results" | "output" | "time" | "pipe" | undefined;
}

export interface Page {
  readonly most: number;
  /** Characters of all lines together. */
  readonly chars: number;
  /** Only lines that come later. */
  readonly after: Cursor | undefined;
}

export async function matchingLines(
  engine: Engine,
  query: LineQuery,
  run: Run,
  page: Page,
): Promise<MatchingLines> {
  const reader = new LineReader(run);
  const collected = new Collected(query, page);
  try {
    for await (const hits of engine.lines(query, run)) {
      for (const hit of hits) {
        if (!collected.wants(hit)) continue;
        const line = await reader.read(hit);
        if (line && !collected.add(line)) return collected.end();
        if (collected.isFull(hit)) return collected.end();
      }
    }
  } finally {
    await reader.close();
  }
  collected.stopped = cutShort(run) ?? collected.stopped;
  return collected.end();
}

class Collected {
  readonly #query: LineQuery;
  readonly #page: Page;
  readonly #afterKey: string;
  readonly #lines: MatchingLine[] = [];
  #last: MatchingLine | undefined;
  #matches = 0;
  #chars = 0;
  stopped: MatchingLines["stopped"];

  constructor(query: LineQuery, page: Page) {
    this.#query = query;
    this.#page = page;
    this.#afterKey = page.after ? orderKey(page.after.path) : "";
  }

  wants({ path, line }: Hit): boolean {
    const { include } = this.#query;
    if (include && !include.matches(textOfName(path))) return false;
    const { after } = this.#page;
    if (!after) return true;
    const key = orderKey(path);
    return key > this.#afterKey || (key === this.#afterKey && line > after.line);
  }

  /** Returns false if there was no room for it. */
  add(line: MatchingLine): boolean {
    if (line.column !== undefined && this.#matches >= this.#page.most) {
      this.stopped = "max_results";
      return false;
    }
    this.#chars += line.text.length + line.relative.length + 8;
    if (this.#chars > this.#page.chars && this.#matches > 0) {
      this.stopped = "output";
      return false;
    }
    this.#lines.push(line);
    if (line.column !== undefined) {
      this.#matches++;
      this.#last = line;
    }
    return true;
  }

  /** Waits for context that may still follow the last match. */
  isFull(hit: Hit): boolean {
    if (this.#matches < this.#page.most) return false;
    this.stopped = "max_results";
    return this.#query.after === 0 || !this.#belongsToLast(hit.path, hit.line + 1);
  }

  end(): MatchingLines {
    const sorted = this.#lines
      .map((line) => ({ line, key: orderKey(line.relative) }))
      .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.line.line - b.line.line))
      .map(({ line }) => line);
    const { before, after } = this.#query;
    const followers = nearMatch(sorted, after);
    const leaders = nearMatch(sorted.toReversed(), before);
    // A match that did not fit is left out together with its context.
    const lines = sorted.filter(
      (line) => line.column !== undefined || followers.has(line) || leaders.has(line),
    );
    return { lines, matches: this.#matches, stopped: this.stopped };
  }

  #belongsToLast(path: Buffer, line: number): boolean {
    const last = this.#last;
    return last?.relative.equals(path) === true && line <= last.line + this.#query.after;
  }
}

/** Context lines at most `most` lines after a match in the same file, in the given order. */
function nearMatch(lines: readonly MatchingLine[], most: number): ReadonlySet<MatchingLine> {
  const near = new Set<MatchingLine>();
  let match: MatchingLine | undefined;
  for (const line of lines) {
    if (line.column !== undefined) match = line;
    else if (match?.relative.equals(line.relative) && Math.abs(line.line - match.line) <= most)
      near.add(line);
  }
  return near;
}

/** Reads the lines an engine found, from files opened for the caller. Keeps the last one open. */
export class LineReader {
  readonly #checked: CheckedFiles;
  #open: OpenText | undefined;
  /** The last one that may not be shown, or is not text. */
  #refused: Buffer | undefined;

  constructor(run: Run) {
    this.#checked = new CheckedFiles(run);
  }

  /** Undefined if it may not be shown, or the file does not contain this line there. */
  async read(hit: Hit): Promise<MatchingLine | undefined> {
    const file = await this.#confirmed(hit);
    if (!file) return undefined;
    const { relative, path } = file;
    const text = file.text.line(hit.offset, hit.column ?? 1);
    return { relative, path, line: hit.line, column: hit.column, text };
  }

  /** The file, if it contains this line there; undefined as with `read`. */
  async confirm(hit: Hit): Promise<Pick<MatchingLine, "relative" | "path"> | undefined> {
    const file = await this.#confirmed(hit);
    return file && { relative: file.relative, path: file.path };
  }

  async #confirmed(hit: Hit): Promise<OpenText | undefined> {
    const file = await this.#opened(hit.path);
    if (!file) return undefined;
    const found = file.text.read(hit.offset, hit.text.length + 2);
    if (!found.subarray(0, hit.text.length).equals(hit.text)) return undefined;
    if (hit.whole && !/^(?:\r?\n|\r?$)/.test(found.toString("latin1", hit.text.length))) return undefined;
    return file;
  }

  async close(): Promise<void> {
    this.#closeFile();
    await this.#checked.close();
  }

  async #opened(relative: Buffer): Promise<OpenText | undefined> {
    if (this.#open?.relative.equals(relative)) return this.#open;
    if (this.#refused?.equals(relative)) return undefined;
    this.#closeFile();
    const file = await this.#checked.open(relative);
    const text = file && FileText.of(file);
    if (file && text) {
      this.#open = { relative, path: file.path, text, descriptor: file.descriptor };
      return this.#open;
    }
    if (file) closeSync(file.descriptor);
    this.#refused = relative;
    return undefined;
  }

  #closeFile(): void {
    if (this.#open) closeSync(this.#open.descriptor);
    this.#open = undefined;
  }
}

interface OpenText {
  readonly relative: Buffer;
  readonly path: Buffer;
  readonly text: FileText;
  readonly descriptor: number;
}
