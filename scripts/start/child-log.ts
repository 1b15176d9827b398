/** What a child prints, kept in files of a bounded size. Whatever it prints, and however fast, this process reads on. */
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { LogFile } from "../../agent/log/log-file.ts";
import { oneLine } from "../../shared/one-line.ts";
import { TokenBucket } from "../../shared/rate-limit.ts";
import { messageOf } from "../problem.ts";

const LINE_CHARS = 8192;
/** So many lines at once, and then one every so many milliseconds: more than a person reads, less than a disk suffers from. */
const LINES = { burst: 1000, everyMs: 20 };
/** Lines that were left out are counted at most so often, in milliseconds. */
const COUNTED_EVERY = 1000;
/** Lines that are quoted when a child dies. */
const QUOTED = 12;
/** What a dead child printed is read within milliseconds; what it started may hold its pipes for longer. */
const READ_WITHIN = 500;

export class ChildLog {
  readonly #file: LogFile;
  readonly #lines = new TokenBucket(LINES, performance.now());
  /** Lines that were left out, and not counted in the file yet. */
  #leftOut = 0;
  #last: string[] = [];
  #read: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    const onFailure = (cause: unknown) =>
      console.error(`The log ${path} cannot be written (${messageOf(cause)}): free some space there.`);
    this.#file = new LogFile({ path, onFailure });
    // It is there to be looked for, even while nothing was printed.
    this.#file.write("");
  }

  /** Keeps what a child prints from now on, both streams. */
  follow(streams: readonly (Readable | null)[]): void {
    this.#last = [];
    const pipes = streams.filter((stream) => stream !== null);
    for (const pipe of pipes) this.#followOne(pipe);
    this.#read = Promise.allSettled(pipes.map((pipe) => finished(pipe)));
  }

  /** The last lines of the child that is followed; of one that died, once they were read. */
  async lastLines(): Promise<string> {
    await Promise.race([this.#read, sleep(READ_WITHIN)]);
    return this.#last.join("\n");
  }

  #followOne(pipe: Readable): void {
    /** A line whose end has not come; of a long one the beginning. */
    let begun = "";
    pipe.setEncoding("utf8");
    pipe.on("data", (text: string) => {
      const lines = text.split("\n");
      const rest = lines.pop() ?? "";
      const [first, ...others] = lines;
      this.#keep(first === undefined ? [] : [begun + first, ...others]);
      begun = ((first === undefined ? begun : "") + rest).slice(0, LINE_CHARS + 1);
    });
    pipe.on("end", () => {
      this.#keep(begun ? [begun] : []);
      this.#countLeftOut();
    });
  }

  #keep(lines: readonly string[]): void {
    const kept = lines.filter(() => this.#lines.take(performance.now()));
    if (kept.length < lines.length && this.#leftOut === 0)
      setTimeout(() => this.#countLeftOut(), COUNTED_EVERY).unref();
    this.#leftOut += lines.length - kept.length;
    this.#write(kept.map((line) => oneLine(line, LINE_CHARS)));
  }

  #countLeftOut(): void {
    if (this.#leftOut > 0) this.#write([`(${this.#leftOut} lines were dropped here: too many at once)`]);
    this.#leftOut = 0;
  }

  #write(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.#last = [...this.#last, ...lines].slice(-QUOTED);
    this.#file.write(`${lines.join("\n")}\n`);
  }
}
