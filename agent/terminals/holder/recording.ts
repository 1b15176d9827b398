/** Records what a terminal shows, and when, in a file (asciicast v2, docs.asciinema.org/manual/asciicast/v2). Never what is typed. */
import { closeSync, ftruncateSync, openSync, writeFileSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { TERMINAL_LIMITS } from "../protocol.ts";

interface Shown {
  readonly cols: number;
  readonly rows: number;
  readonly shell: string;
}

export class Recording {
  readonly #decoder = new StringDecoder("utf8");
  readonly #began = performance.now();
  readonly #onEnded: () => void;
  #fd: number | undefined;
  #bytes = 0;

  /** `onEnded`: the file is full, or cannot be written any more. Throws if it is there already, or cannot be made. */
  constructor(path: string, { cols, rows, shell }: Shown, onEnded: () => void) {
    this.#onEnded = onEnded;
    this.#fd = openSync(path, "wx", 0o600);
    const env = { TERM: "xterm-256color", SHELL: shell };
    this.#append({ version: 2, width: cols, height: rows, timestamp: Math.floor(Date.now() / 1000), env });
    if (!this.isOn) throw new Error("its recording cannot be written");
  }

  /** Whether it goes on. */
  get isOn(): boolean {
    return this.#fd !== undefined;
  }

  output(bytes: Buffer): void {
    // A character may come in two pieces.
    const text = this.#decoder.write(bytes);
    if (text !== "") this.#event("o", text);
  }

  resized(cols: number, rows: number): void {
    this.#event("r", `${cols}x${rows}`);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #event(kind: "o" | "r" | "m", data: string): void {
    if (this.#bytes < TERMINAL_LIMITS.recordingBytes) return this.#append([this.#seconds(), kind, data]);
    this.#append([this.#seconds(), "m", "The recording ends here: it is full"]);
    this.#end();
  }

  #end(): void {
    if (this.#fd === undefined) return;
    this.close();
    this.#onEnded();
  }

  #seconds(): number {
    return Math.round(performance.now() - this.#began) / 1000;
  }

  #append(line: unknown): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    try {
      // A full disk may take a part of it: this goes on until it has all, or fails.
      writeFileSync(fd, bytes);
      this.#bytes += bytes.length;
    } catch {
      cutTo(fd, this.#bytes);
      this.#end();
    }
  }
}

/** What was written of a line that has no end. */
function cutTo(fd: number, bytes: number): void {
  try {
    ftruncateSync(fd, bytes);
  } catch {
    // The lines before it can be read nevertheless.
  }
}
