/** Reads the `*** Begin Patch` format, which marks each file with its own line and needs no line numbers. */
import type { Line } from "./line-ends.ts";
import {
  BEGIN,
  badPatchError,
  END,
  type FilePatch,
  type Hunk,
  type HunkLine,
  LINE_KINDS,
  textOf,
  USUAL_MODE,
} from "./patch-types.ts";

/** The first line that is not blank is the marker. Throws MatrxError `INVALID_PARAMETERS`. */
export function readMarkedPatch(lines: readonly Line[]): FilePatch[] {
  return new Reader(lines).read();
}

/** The range of a unified diff, which models write here too. */
const RANGE = /^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@/;

class Reader {
  readonly #lines: readonly Line[];
  /** Index of the current line. */
  #at: number;
  /** Index of the next line that is not empty; found again once the current line is past it. */
  #nextFull = -1;

  constructor(lines: readonly Line[]) {
    this.#lines = lines;
    this.#at = lines.findIndex(({ text }) => text.trim() !== "");
  }

  read(): FilePatch[] {
    if (this.#line?.trim() !== BEGIN) throw this.#bad(`it must be "${BEGIN}" alone`);
    this.#at++;
    const files: FilePatch[] = [];
    while (this.#line?.trim() !== END) {
      if (this.#line === undefined) throw this.#bad(`"${END}" is missing`);
      if (this.#line.trim() === "") this.#at++;
      else files.push(this.#readFile());
    }
    const rest = this.#lines.findIndex(({ text }, index) => index > this.#at && text.trim() !== "");
    if (rest !== -1) throw badPatchError(`nothing may follow "${END}"`, rest + 1);
    return files;
  }

  get #line(): string | undefined {
    return this.#lines[this.#at]?.text;
  }

  #readFile(): FilePatch {
    const add = this.#take("*** Add File: ");
    if (add !== undefined) return { kind: "add", path: add, content: this.#readContent(), mode: USUAL_MODE };
    const gone = this.#take("*** Delete File: ");
    if (gone !== undefined) return { kind: "delete", path: gone, hunks: undefined };
    const path = this.#take("*** Update File: ");
    if (path === undefined) throw this.#bad("a file must begin here: Add File, Update File or Delete File");
    const to = this.#take("*** Move to: ");
    const hunks: Hunk[] = [];
    while (!this.#isAtMarker) hunks.push(this.#readHunk(hunks.length + 1));
    if (hunks.length === 0 && to === undefined) throw this.#bad(`it changes nothing in ${path}`);
    return { kind: "update", path, to, hunks };
  }

  /** The rest of the current line, if it begins with this marker. */
  #take(marker: string): string | undefined {
    if (!this.#line?.startsWith(marker)) return undefined;
    const rest = this.#line.slice(marker.length).trim();
    if (rest === "") throw this.#bad("a path is missing");
    this.#at++;
    return rest;
  }

  get #isAtMarker(): boolean {
    return this.#line === undefined || this.#line.startsWith("*** ");
  }

  #readContent(): string {
    const lines: HunkLine[] = [];
    while (!this.#isAtMarker) {
      const line = this.#line ?? "";
      if (line === "" && this.#onlyBlanksBeforeMarker()) break;
      if (!line.startsWith("+")) throw this.#bad('each line of an added file must begin with "+"');
      lines.push(this.#readHunkLine());
    }
    this.#skipBlanks();
    return textOf(lines, false);
  }

  #readHunk(number: number): Hunk {
    const begin = this.#at + 1;
    const headers: string[] = [];
    let line: number | undefined;
    for (; this.#line?.startsWith("@@"); this.#at++) {
      const range = RANGE.exec(this.#line);
      if (range) line = Number(range[1]);
      const header = this.#line.slice(2).trim();
      if (!range && header !== "") headers.push(header);
    }
    const lines: HunkLine[] = [];
    while (!this.#isAtMarker && !this.#line?.startsWith("@@")) {
      if (this.#line === "" && this.#onlyBlanksBeforeMarker()) break;
      lines.push(this.#readHunkLine());
    }
    this.#skipBlanks();
    const atEnd = this.#line?.trim() === "*** End of File";
    if (atEnd) this.#at++;
    this.#skipBlanks();
    if (!lines.some(({ kind }) => kind !== "same")) throw badPatchError("this hunk changes nothing", begin);
    const endless = { old: false, new: false };
    return { name: `hunk ${number}`, lines, line, headers, atEnd, endless, blanks: 0, note: undefined };
  }

  #readHunkLine(): HunkLine {
    const { text: line, end } = this.#lines[this.#at] ?? { text: "", end: "" };
    // An empty line is an empty line of the file whose leading space was lost.
    const kind = LINE_KINDS[line.slice(0, 1) || " "];
    if (!kind) throw this.#bad('a line of a hunk must begin with " ", "-" or "+"');
    this.#at++;
    return { kind, text: line.slice(1), end: end === "\r\n" ? end : "\n" };
  }

  #onlyBlanksBeforeMarker(): boolean {
    if (this.#nextFull < this.#at) {
      this.#nextFull = this.#at;
      while (this.#lines[this.#nextFull]?.text === "") this.#nextFull++;
    }
    return /^(?:\*\*\* |@@|$)/.test(this.#lines[this.#nextFull]?.text ?? "");
  }

  #skipBlanks(): void {
    while (this.#line === "") this.#at++;
  }

  #bad(why: string) {
    return badPatchError(why, this.#at + 1);
  }
}
