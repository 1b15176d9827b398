/** Keeps a child's output in files of bounded size. However much and fast it prints, this process keeps reading. */
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { LogFile } from "../../agent/log/log-file.ts";
import { oneLine } from "../../shared/one-line.ts";
import { TokenBucket } from "../../shared/rate-limit.ts";
import { messageOf } from "../problem.ts";

const LINE_CHARS = 8192;
/** Rate limit of lines: a burst, then one per interval in milliseconds. More than a person reads, but harmless to the disk. */
const LINES = { burst: 1000, everyMs: 20 };
/** How often, at most, to log the number of dropped lines, in milliseconds. */
const COUNTED_EVERY = 1000;
/** Lines that are quoted when a child dies. */
const QUOTED = 12;
/** What a dead child printed is read within milliseconds; what it started may hold its pipes for longer. */
const READ_WITHIN = 500;

export class ChildLog {
  readonly #file: LogFile;
  readonly #lines = new TokenBucket(LINES, performance.now());
  /** Dropped lines that are not yet counted in the file. */
  #leftOut = 0;
  #last: string[] = [];
  #read: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    const onFailure = (cause: unknown) =>
      console.error(`The log ${path} cannot be written (${messageOf(cause)}): free some space there.`);
    this.#file = new LogFile({ path, onFailure });
    // Create the file even if nothing is printed, so that people find it.
    this.#file.write("");
  }

  /** Keeps what a child prints from now on, both streams. */
  follow(streams: readonly (Readable | null)[]): void {
    this.#last = [];
    const pipes = streams.filter((stream) => stream !== null);
    for (const pipe of pipes) this.#followOne(pipe);
    this.#read = Promise.allSettled(pipes.map((pipe) => finished(pipe)));
  }

  /** The last lines of the current child; if it died, once its output has been read. */
  async lastLines(): Promise<string> {
    await Promise.race([this.#read, sleep(READ_WITHIN)]);
    return this.#last.join("\n");
  }

  #followOne(pipe: Readable): void {
    /** An unfinished line; only the beginning of a long one. */
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
