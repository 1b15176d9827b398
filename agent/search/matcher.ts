/** Matches lines in a thread of its own, which is ended with the search: a pattern that takes forever holds up nobody. */
import { Worker } from "node:worker_threads";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { Hit, LineQuery } from "./engine.ts";

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
    const { source, flags } = expressionOf(query);
    this.#worker = new Worker(THREAD, { eval: true, workerData: { source, flags, context: query.context } });
    this.#signal = signal;
    signal.addEventListener("abort", this.#stop, { once: true });
    if (signal.aborted) this.#stop();
  }

  /** The lines of a file that match, with context, some at a time. It ends early when the search does. */
  async *match(bytes: Buffer): AsyncGenerator<FoundLine[], void> {
    let next: Buffer | "more" = bytes;
    for (let done = false; !done; next = "more") {
      const answer = await this.#ask(next);
      if (!answer) return;
      yield answer.lines.map((line) => ({ ...line, text: Buffer.from(line.text) }));
      done = answer.done;
    }
  }

  /** Undefined: the search was ended meanwhile. */
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

/** A pattern of ripgrep may begin with flags, and need not escape as strictly as JavaScript's `u` wants it. */
function expressionOf({ pattern, literal, caseInsensitive }: LineQuery): { source: string; flags: string } {
  const inline = literal ? null : /^\(\?([is]+)\)/.exec(pattern);
  const written = inline ? pattern.slice(inline[0].length) : pattern;
  const source = literal ? written.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&") : written;
  const flags = caseInsensitive || inline?.[1]?.includes("i") ? "gi" : "g";
  for (const all of [`${flags}u`, flags]) {
    try {
      new RegExp(source, all);
      return { source, flags: all };
    } catch (error) {
      if (all === flags) throw badPattern(error);
    }
  }
  throw new Error("unreachable");
}

function badPattern(cause: unknown): MatrxError {
  return new MatrxError(
    {
      code: "INVALID_PARAMETERS",
      message: `pattern: ${cause instanceof Error ? cause.message : "it cannot be read"}`,
      hint: "Correct the pattern, or search for it as it stands with literal=true",
      hop: "tool",
      details: { field: "pattern" },
    },
    cause,
  );
}

/**
 * Lines are matched one by one, as ripgrep does; a line's first 4096 bytes go back, to know it by. As many lines as a file
 * may hold, at most 1000 go back at once.
 */
const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
const expression = new RegExp(workerData.source, workerData.flags);
const { context } = workerData;
let bytes, offset, number, before, after;
parentPort.on("message", (question) => {
  if (question !== "more") {
    bytes = Buffer.from(question.buffer, question.byteOffset, question.byteLength);
    [offset, number, before, after] = [0, 1, [], 0];
  }
  const lines = [];
  for (; offset < bytes.length && lines.length < 1000; number++) {
    const newline = bytes.indexOf(10, offset);
    const end = newline < 0 ? bytes.length : newline;
    const line = bytes.subarray(offset, end > offset && bytes[end - 1] === 13 ? end - 1 : end);
    const text = line.toString("utf8");
    expression.lastIndex = 0;
    const match = expression.exec(text);
    const entry = { line: number, offset, column: undefined, text: Uint8Array.from(line.subarray(0, 4096)), whole: line.length <= 4096 };
    if (match) {
      entry.column = Buffer.byteLength(text.slice(0, match.index)) + 1;
      lines.push(...before.splice(0), entry);
      after = context;
    } else if (after > 0) {
      lines.push(entry);
      after--;
    } else if (context > 0) {
      before.push(entry);
      if (before.length > context) before.shift();
    }
    offset = end + 1;
  }
  parentPort.postMessage({ lines, done: offset >= bytes.length });
});
`;
