/**
 * Finds what a shell says of itself in a terminal's output: its title, its directory, and the marks between prompts and
 * commands (OSC 133 and 633). Any program can write such marks too, so only those with the terminal's nonce count.
 */
import { fileURLToPath } from "node:url";

export type Mark =
  | { readonly kind: "title"; readonly title: string }
  | { readonly kind: "cwd"; readonly cwd: string }
  | {
      readonly kind: "mark";
      readonly mark: "prompt" | "input" | "start" | "end";
      /** The first byte of the sequence, and the byte after it. */
      readonly at: number;
      readonly after: number;
      readonly code?: number;
    };

const ESC = 0x1b;
const BELL = 0x07;
const OSC = 0x5d;
/** A longer sequence is none of ours. */
const LONGEST = 4096;
const KIND = { A: "prompt", B: "input", C: "start", D: "end" } as const;

export class MarkScanner {
  readonly #nonce: string;
  /** What may be the beginning of a sequence. */
  #open: Buffer = Buffer.alloc(0);
  /** The number of the last prompt, in a shell that counts them. */
  #prompt = "";

  constructor(nonce: string) {
    this.#nonce = nonce;
  }

  /** What a piece of output tells; `seq` is the number of its first byte. */
  scan(piece: Buffer, seq: number): Mark[] {
    const bytes = this.#open.length > 0 ? Buffer.concat([this.#open, piece]) : piece;
    const base = seq - this.#open.length;
    this.#open = Buffer.alloc(0);
    const found: Mark[] = [];
    for (let at = bytes.indexOf(ESC); at >= 0; at = bytes.indexOf(ESC, at)) {
      if (at + 1 < bytes.length && bytes[at + 1] !== OSC) {
        at++;
        continue;
      }
      const end = endOf(bytes, at + 2);
      if (end === undefined) {
        if (bytes.length - at < LONGEST) {
          this.#open = Buffer.from(bytes.subarray(at));
          return found;
        }
        at++;
        continue;
      }
      const mark = this.#read(bytes.toString("utf8", at + 2, end.text), base + at, base + end.after);
      if (mark) found.push(mark);
      at = end.after;
    }
    return found;
  }

  #read(text: string, at: number, after: number): Mark | undefined {
    const [code, ...rest] = text.split(";");
    if (code === "0" || code === "2") return { kind: "title", title: rest.join(";").slice(0, 200) };
    if (code === "7") return cwdOf(rest.join(";"));
    if (code !== "133") return undefined;
    const mark = KIND[rest[0] as keyof typeof KIND];
    if (!mark || rest.at(-1) !== `nonce=${this.#nonce}`) return undefined;
    if (mark === "prompt" && rest.length > 2) {
      const [, prompt = ""] = rest;
      // The same one is drawn again.
      if (prompt === this.#prompt) return undefined;
      this.#prompt = prompt;
    }
    const exit = Number.parseInt(rest[1] ?? "", 10);
    return { kind: "mark", mark, at, after, ...(mark === "end" && !Number.isNaN(exit) && { code: exit }) };
  }
}

/** Where the text of a sequence ends, and the byte after its end. Undefined: not yet, or it is too long. */
function endOf(bytes: Buffer, from: number): { text: number; after: number } | undefined {
  const last = Math.min(bytes.length, from + LONGEST);
  for (let at = from; at < last; at++) {
    if (bytes[at] === BELL) return { text: at, after: at + 1 };
    // An ESC without a backslash breaks the sequence off.
    if (bytes[at] === ESC && at + 1 < bytes.length)
      return bytes[at + 1] === 0x5c ? { text: at, after: at + 2 } : { text: from, after: at };
  }
  return undefined;
}

function cwdOf(address: string): Mark | undefined {
  try {
    return { kind: "cwd", cwd: fileURLToPath(address.replace(/^file:\/\/[^/]*/, "file://")) };
  } catch {
    return undefined;
  }
}
