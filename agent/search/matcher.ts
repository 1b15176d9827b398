/** Matches lines in a separate thread, terminated with the search, so that a pattern that never finishes blocks nobody. */
import { Worker } from "node:worker_threads";
import type { Hit, LineQuery } from "./engine.ts";
import { javascriptPattern } from "./javascript-pattern.ts";

type FoundLine = Omit<Hit, "path">;

/** As it comes from the thread. */
interface PlainLine {
  readonly line: number;
  readonly offset: number;
  readonly column: number | undefined;
  readonly text: Uint8Array;
  readonly whole: boolean;
}

interface Answer {
  readonly lines: readonly PlainLine[];
  /** The file has no more. */
  readonly done: boolean;
}

export class Matcher {
  readonly #worker: Worker;
  readonly #signal: AbortSignal;
  #stopped: Promise<unknown> | undefined;

  /** Throws MatrxError `INVALID_PARAMETERS`. */
  constructor(query: LineQuery, signal: AbortSignal) {
    const { before, after, multiline, firstOnly } = query;
    const workerData = { ...javascriptPattern(query), before, after, multiline, firstOnly };
    this.#worker = new Worker(THREAD, { eval: true, workerData });
    this.#signal = signal;
    signal.addEventListener("abort", this.#stop, { once: true });
    if (signal.aborted) this.#stop();
  }

  /** The matching lines of a file with context, in batches. Ends early if the search does. */
  async *match(bytes: Buffer): AsyncGenerator<FoundLine[], void> {
    let next: Buffer | "more" = bytes;
    for (let done = false; !done; next = "more") {
      const answer = await this.#ask(next);
      if (!answer) return;
      yield answer.lines.map((line) => ({ ...line, text: Buffer.from(line.text) }));
      done = answer.done;
    }
  }

  /** Undefined if the search was ended meanwhile. */
  #ask(question: Buffer | "more"): Promise<Answer | undefined> {
    if (this.#stopped !== undefined) return Promise.resolve(undefined);
    const { promise, resolve, reject } = Promise.withResolvers<Answer | undefined>();
    const onEnd = () => resolve(undefined);
    this.#worker.once("message", resolve).once("error", reject).once("exit", onEnd);
    this.#worker.postMessage(question);
    return promise.finally(() =>
      this.#worker.off("message", resolve).off("error", reject).off("exit", onEnd),
    );
  }

  async close(): Promise<void> {
    this.#signal.removeEventListener("abort", this.#stop);
    this.#stop();
    await this.#stopped;
  }

  readonly #stop = () => {
    this.#stopped ??= this.#worker.terminate();
  };
}

/**
 * Matches lines one by one, as ripgrep does, or the whole text, where every line that a match touches counts. It sends
 * back a line's first 4096 bytes, to identify it, and at most 1000 lines at once, however many a file has.
 */
const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
const { source, flags, before: mostBefore, after: mostAfter, multiline, firstOnly } = workerData;
const expression = new RegExp(source, flags);
let bytes, offset, number, before, after, isTouched;

/** The first match. Empty ones that V8 finds in the middle of a character do not count. */
function firstMatch(text) {
  for (expression.lastIndex = 0; ; expression.lastIndex++) {
    const match = expression.exec(text);
    if (!match || match.index === 0 || text.codePointAt(match.index - 1) <= 0xffff) return match;
    expression.lastIndex = match.index;
  }
}

/** Whether a match touches each line, asked in order. */
function touches(text) {
  let begin = 0, position = 0, line = 1, range = next();
  function next() {
    if (begin > text.length) return undefined;
    // As in ripgrep, the search starts afresh after a match and sees nothing before it.
    const match = firstMatch(text.slice(begin));
    if (!match) return undefined;
    const from = begin + match.index;
    const to = from + match[0].length;
    begin = to > from ? to : to + (text.codePointAt(to) > 0xffff ? 2 : 1);
    // No line follows the last line end.
    if (from === text.length && (text === "" || text.endsWith("\\n"))) return undefined;
    return { from: lineAt(from), to: lineAt(Math.max(from, to - 1)) };
  }
  function lineAt(index) {
    for (let at = text.indexOf("\\n", position); at >= 0 && at < index; at = text.indexOf("\\n", position)) {
      position = at + 1;
      line++;
    }
    return line;
  }
  return (wanted) => {
    while (range && range.to < wanted) range = next();
    return range !== undefined && range.from <= wanted;
  };
}

function columnOf(line) {
  if (multiline) return isTouched(number) ? 1 : undefined;
  const text = line.toString("utf8");
  // In ripgrep no pattern matches a CR within a line: it ends one too.
  for (let from = 0, to; from <= text.length; from = to + 1) {
    to = text.indexOf("\\r", from);
    if (to < 0) to = text.length;
    const match = firstMatch(text.slice(from, to));
    if (match) return Buffer.byteLength(text.slice(0, from + match.index)) + 1;
  }
  return undefined;
}

parentPort.on("message", (question) => {
  if (question !== "more") {
    bytes = Buffer.from(question.buffer, question.byteOffset, question.byteLength);
    [offset, number, before, after] = [0, 1, [], 0];
    if (multiline) isTouched = touches(bytes.toString("utf8"));
  }
  const lines = [];
  for (; offset < bytes.length && lines.length < 1000; number++) {
    const newline = bytes.indexOf(10, offset);
    const end = newline < 0 ? bytes.length : newline;
    const line = bytes.subarray(offset, end > offset && bytes[end - 1] === 13 ? end - 1 : end);
    const column = columnOf(line);
    const entry = { line: number, offset, column, text: Uint8Array.from(line.subarray(0, 4096)), whole: line.length <= 4096 };
    offset = end + 1;
    if (column !== undefined) {
      lines.push(...before.splice(0), entry);
      after = mostAfter;
      if (firstOnly) offset = bytes.length;
    } else if (after > 0) {
      lines.push(entry);
      after--;
    } else if (mostBefore > 0) {
      before.push(entry);
      if (before.length > mostBefore) before.shift();
    }
  }
  parentPort.postMessage({ lines, done: offset >= bytes.length });
});
`;
