/** Reads a text file by engines' offsets, and decodes it. */
import { readSync } from "node:fs";
import { decode, isUtf16, type TextEncoding } from "../text/encodings.ts";
import { encodingOf, sniff, withoutPart } from "../text/sniff.ts";
import type { CheckedFile } from "./checked-files.ts";

/** How much of a file determines its encoding, in bytes. */
const HEAD = 8192;
/** Limit on UTF-16 files, which are converted to UTF-8 as a whole, in bytes. */
const LARGEST_UTF16 = 16 * 1024 * 1024;
/** How far to search for a line's end, in bytes. */
const LONGEST_LINE = 1024 * 1024;
/** Characters shown of a line, and of those the ones before the match. */
const LINE_CHARS = 500;
const LEAD_CHARS = 120;
const NEWLINE = 10;

export class FileText {
  readonly encoding: TextEncoding;
  readonly #file: CheckedFile;
  readonly #head: Buffer;
  readonly #bom: number;
  /** The UTF-8 form of a UTF-16 file. */
  readonly #changed: Buffer | undefined;

  private constructor(
    file: CheckedFile,
    head: Buffer,
    encoding: TextEncoding,
    bom: number,
    changed?: Buffer,
  ) {
    this.#file = file;
    this.#head = head;
    this.encoding = encoding;
    this.#bom = bom;
    this.#changed = changed;
  }

  /** Undefined if it is not text (it has a NUL near its beginning), or is UTF-16 and too large. */
  static of(file: CheckedFile): FileText | undefined {
    const head = readAt(file, 0, HEAD);
    const whole = file.stat.size > head.length ? withoutPart(head) : head;
    const content = sniff(whole);
    if (content.kind !== "text") {
      return head.includes(0) ? undefined : new FileText(file, head, encodingOf(whole), 0);
    }
    const { encoding, bomBytes } = content;
    if (!isUtf16(encoding)) return new FileText(file, head, encoding, bomBytes);
    if (file.stat.size > LARGEST_UTF16) return undefined;
    const bytes = readAt(file, bomBytes, Number(file.stat.size));
    const pairs = bytes.subarray(0, bytes.length - (bytes.length % 2));
    const text = Buffer.from(decode(pairs, encoding), "utf8");
    return text.subarray(0, HEAD).includes(0)
      ? undefined
      : new FileText(file, head, encoding, bomBytes, text);
  }

  /** Bytes after the byte order mark; fewer at the end. */
  read(offset: number, length: number): Buffer {
    if (this.#changed) return this.#changed.subarray(offset, offset + length);
    const from = offset + this.#bom;
    if (from + length <= this.#head.length || this.#head.length < HEAD)
      return this.#head.subarray(from, from + length);
    return readAt(this.#file, from, length);
  }

  /** All of it. */
  whole(): Buffer {
    return this.read(0, this.#changed?.length ?? Number(this.#file.stat.size));
  }

  /** The decoded line that begins there; for a long one, the part around a column (in bytes, from 1). */
  line(offset: number, column: number): string {
    const near = this.read(offset, 4 * LINE_CHARS);
    const end = near.indexOf(NEWLINE);
    const whole = end < 0 && near.length < 4 * LINE_CHARS ? near : near.subarray(0, Math.max(end, 0));
    const text = end >= 0 || whole.length > 0 ? this.#decoded(whole) : undefined;
    if (text !== undefined && text.length <= LINE_CHARS) return text;
    return this.#part(offset, column - 1);
  }

  #part(offset: number, column: number): string {
    const bytes = this.read(offset, LONGEST_LINE);
    const end = bytes.indexOf(NEWLINE);
    const length = end < 0 ? bytes.length : end;
    const line = bytes.subarray(0, length);
    const from =
      column < LINE_CHARS - LEAD_CHARS ? 0 : startOfCharacter(line, Math.min(column, length) - LEAD_CHARS);
    const part = line.subarray(from, from + 4 * LINE_CHARS);
    const cut = from + part.length < line.length ? withoutPart(part) : part;
    const shown = this.#decoded(cut).slice(0, LINE_CHARS);
    const known = end < 0 && bytes.length >= LONGEST_LINE ? "more than " : "";
    const place = from > 0 ? `, shown from byte ${from + 1}` : "";
    return `${from > 0 ? "…" : ""}${shown.isWellFormed() ? shown : shown.slice(0, -1)}… [cut: the line has ${known}${length} bytes${place}]`;
  }

  #decoded(bytes: Buffer): string {
    const line = bytes.at(-1) === 13 ? bytes.subarray(0, -1) : bytes;
    // The head of the file was UTF-8, but this line may not be.
    if (this.encoding === "utf-8") return decode(line, encodingOf(line));
    return decode(line, this.#changed ? "utf-8" : this.encoding);
  }
}

function startOfCharacter(bytes: Buffer, from: number): number {
  let start = Math.max(0, from);
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}

function readAt({ descriptor }: CheckedFile, position: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const read = readSync(descriptor, buffer, filled, length - filled, position + filled);
    if (read === 0) break;
    filled += read;
  }
  return buffer.subarray(0, filled);
}
