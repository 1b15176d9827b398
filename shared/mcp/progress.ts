/** Progress notifications of one call: at once after a pause, then a few a second, and one when nothing happens for long. */
import type { Progress } from "../content.ts";
import { TIMES } from "../limits.ts";

/** Between two notifications, in milliseconds. */
const APART = 250;
const LINE_CHARS = 200;

export class ProgressReporter {
  readonly #send: (progress: Progress) => void;
  readonly #began = Date.now();
  /** What was told last. */
  #told: number | undefined;
  #next: Omit<Progress, "progress"> & { progress?: number } = {};
  #line = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waiting = false;
  /** What is said in place of the time while a person is waited for. */
  #person: string | undefined;
  #closed = false;

  constructor(send: (progress: Progress) => void) {
    this.#send = send;
    this.#rest(TIMES.streamKeepAlive);
  }

  /** Live output: its last line is what is told. */
  output(text: string): void {
    const lines = `${this.#line}${text}`.split(/\r?\n|\r/);
    this.#line = (lines.at(-1) ?? "").slice(-LINE_CHARS);
    const last = lines.findLast((line) => line.trim() !== "");
    if (last !== undefined) this.#tell({ message: last.trim().slice(0, LINE_CHARS).toWellFormed() });
  }

  /** How far a tool says it is. */
  progress(progress: Progress): void {
    this.#tell(progress);
  }

  /** A person has to decide, in these words. */
  waitsFor(person: string): void {
    this.#tell({ message: person });
    this.#person = person;
  }

  /** Nobody is waited for any more. */
  goesOn(): void {
    this.#person = undefined;
  }

  close(): void {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  #tell(news: Partial<Progress>): void {
    if (this.#closed) return;
    this.goesOn();
    this.#next = news;
    if (this.#waiting) return;
    this.#now();
  }

  /** The tool's own figures as long as they grow, which the protocol requires; else a count. */
  #now(): void {
    const { progress, total, message } = this.#next;
    const grows = progress !== undefined && progress > (this.#told ?? Number.NEGATIVE_INFINITY);
    const count = grows ? progress : (this.#told ?? 0) + 1;
    this.#told = count;
    this.#next = {};
    this.#send({
      progress: count,
      ...(grows && total !== undefined && { total }),
      ...(message !== undefined && { message }),
    });
    this.#waiting = true;
    this.#rest(APART);
  }

  #rest(ms: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#awake(), ms);
  }

  #awake(): void {
    const isQuiet = !this.#waiting;
    this.#waiting = false;
    const running = `Running for ${Math.round((Date.now() - this.#began) / 1000)} s`;
    if (isQuiet) this.#next = { message: this.#person ?? running };
    if (isQuiet || "message" in this.#next || "progress" in this.#next) this.#now();
    else this.#rest(TIMES.streamKeepAlive);
  }
}
