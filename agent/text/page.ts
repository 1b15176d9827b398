/** One page of a text file's lines, decoded: forward from a line, or backward from the end. */
import { bytesFrom, type Source, utf8Of } from "./chunks.ts";
import { decode, isUtf16, type TextEncoding } from "./encodings.ts";
import type { FileState, LineIndex } from "./line-index.ts";
import { collectPage, type LineStart, type PageRequest, type RawLine, type RawPage } from "./lines.ts";
import { encodingOf, withoutPart } from "./sniff.ts";
import { tailStart } from "./tail.ts";

const MiB = 1024 * 1024;

/** How many characters of a line are shown. */
const LINE_CHARS = 2000;
/** How many bytes of a line are kept: a UTF-16 unit takes at most three bytes of UTF-8, and one unit more shows that the line was cut. */
const LINE_BYTES = 3 * (LINE_CHARS + 1) + 3;
/** Longer lines are not read to their end, in bytes. */
const LONGEST_LINE = 8 * MiB;
/** The lines of files up to this size are counted, in bytes. */
const COUNTED_BYTES = 16 * MiB;
/** Limit on the last lines of a file together, in bytes. */
const TAIL_BYTES = 64 * MiB;

export interface TextFile {
  readonly source: Source;
  readonly stat: FileState;
  readonly encoding: TextEncoding;
  /** Whether the caller named the encoding; otherwise a page may turn out to be in another one. */
  readonly declared: boolean;
  readonly bomBytes: number;
}

export interface TextPage {
  readonly lines: readonly string[];
  /** Indexes of the lines that are cut. */
  readonly cut: readonly number[];
  /** From 1; in a file too long to count, from the end (-1 is the last line). */
  readonly firstLine: number;
  /** Where the next page begins; undefined at the end of the file. */
  readonly nextOffset: number | undefined;
  readonly totalLines: number | undefined;
  readonly encoding: TextEncoding;
  readonly eol: RawPage["eol"];
  /** Whether the last line is too long to find its end. */
  readonly endless: boolean;
}

export interface Wanted {
  /** First line; negative counts from the end. */
  readonly offset: number;
  readonly limit: number;
  /** Limit on the characters (UTF-16 units) of a page, including what is shown around its lines. */
  readonly chars: number;
  /** How many characters are shown around the line of this number. */
  readonly around: (line: number) => number;
  readonly signal: AbortSignal;
}

/** Undefined if the last lines are too long to be found. */
export async function readTextPage(
  file: TextFile,
  wanted: Wanted,
  index: LineIndex,
): Promise<TextPage | undefined> {
  if (wanted.offset > 0) return readForward(file, wanted, index);
  const size = Number(file.stat.size);
  // Files in /proc have size 0 but may have content.
  if (size <= COUNTED_BYTES || isUtf16(file.encoding)) return readLastCounted(file, wanted, index);
  const start = await tailStart(file.source, size, -wanted.offset, TAIL_BYTES, wanted.signal);
  if (start === undefined) return undefined;
  const page = await collectPage(
    bytesFrom(file.source, Math.max(start, file.bomBytes), wanted.signal),
    { line: 1, offset: start },
    { ...pageOf(file, wanted, 1), countAll: false },
  );
  const numberedFromEnd = start > 0 ? wanted.offset - 1 : 0;
  const { totalLines: _, ...shown } = decoded(page, file);
  return {
    ...shown,
    totalLines: undefined,
    firstLine: 1 + numberedFromEnd,
    nextOffset: page.nextLine === undefined ? undefined : page.nextLine + numberedFromEnd,
  };
}

async function readForward(file: TextFile, wanted: Wanted, index: LineIndex): Promise<TextPage> {
  const known = isUtf16(file.encoding) ? undefined : index.before(file.stat, wanted.offset);
  const start = known ?? firstLineOf(file);
  const request = {
    ...pageOf(file, wanted, wanted.offset),
    countAll: Number(file.stat.size) <= COUNTED_BYTES,
  };
  const page = await collectPage(piecesOf(file, start, wanted.signal), start, request, (found) => {
    if (!isUtf16(file.encoding)) index.note(file.stat, found);
  });
  return { ...decoded(page, file), firstLine: wanted.offset, nextOffset: page.nextLine };
}

async function readLastCounted(file: TextFile, wanted: Wanted, index: LineIndex): Promise<TextPage> {
  const start = firstLineOf(file);
  const nothing = { ...pageOf(file, wanted, 1), maxLines: 0, countAll: true };
  const { totalLines = 0 } = await collectPage(piecesOf(file, start, wanted.signal), start, nothing);
  return readForward(file, { ...wanted, offset: Math.max(1, totalLines + 1 + wanted.offset) }, index);
}

function pageOf(
  { encoding }: TextFile,
  { limit, chars, around }: Wanted,
  firstLine: number,
): Omit<PageRequest, "countAll"> {
  const isUnicode = encoding === "utf-8" || isUtf16(encoding);
  return {
    firstLine,
    maxLines: limit,
    maxChars: chars,
    charsOf: (line, number) => around(number) + shownChars(line, isUnicode),
    keepPerLine: LINE_BYTES,
    longestLine: LONGEST_LINE,
  };
}

/** How many characters of a line are shown; for encodings other than Unicode's, at most. */
function shownChars({ bytes, length }: RawLine, isUnicode: boolean): number {
  const chars = isUnicode ? utf16Units(bytes) : bytes.length;
  return chars <= LINE_CHARS && length <= bytes.length ? chars : LINE_CHARS + cutMark(length, false).length;
}

/** Counts UTF-16 units in UTF-8: one for each character, two for those of four bytes. */
function utf16Units(bytes: Buffer): number {
  let units = 0;
  for (const byte of bytes) units += (byte & 0xc0) === 0x80 ? 0 : byte >= 0xf0 ? 2 : 1;
  return units;
}

function firstLineOf({ bomBytes }: TextFile): LineStart {
  return { line: 1, offset: bomBytes };
}

function piecesOf(file: TextFile, { offset }: LineStart, signal: AbortSignal): AsyncGenerator<Buffer, void> {
  const bytes = bytesFrom(file.source, offset, signal);
  return isUtf16(file.encoding) ? utf8Of(bytes, file.encoding === "utf-16be") : bytes;
}

function decoded(page: RawPage, file: TextFile) {
  const encoding = file.declared ? file.encoding : encodingOfPage(file.encoding, page.lines);
  const lines = page.lines.map((line) => decodedLine(line, encoding));
  const shown = lines.map(({ text, cutAt }, index) => {
    if (cutAt === undefined) return text;
    return text + cutMark(cutAt, page.endless && index === lines.length - 1);
  });
  const cut = lines.flatMap(({ cutAt }, index) => (cutAt === undefined ? [] : [index]));
  const { totalLines, eol, endless } = page;
  return { lines: shown, cut, encoding, totalLines, eol, endless };
}

function cutMark(bytes: number, isEndless: boolean): string {
  return `… [cut: the line has ${isEndless ? "more than " : ""}${bytes} bytes]`;
}

const LINE_END = Buffer.from("\n");

/** The encoding of the head of the file, unless this page shows that it is another one. */
function encodingOfPage(ofHead: TextEncoding, lines: readonly RawLine[]): TextEncoding {
  if (ofHead !== "utf-8" && ofHead !== "latin1") return ofHead;
  const texts = lines.map(({ bytes, length }) => (length > bytes.length ? withoutPart(bytes) : bytes));
  if (texts.every((text) => encodingOf(text) === "utf-8")) return ofHead;
  const ofPage = encodingOf(Buffer.concat(texts.flatMap((text) => [text, LINE_END])));
  return ofHead === "latin1" && ofPage === "utf-8" ? ofHead : ofPage;
}

/** `cutAt` is the length of the whole line in bytes, if the text has only a part of it. */
function decodedLine(
  { bytes, length }: RawLine,
  encoding: TextEncoding,
): { text: string; cutAt: number | undefined } {
  // UTF-16 was converted to UTF-8 while reading.
  const text = decode(bytes, isUtf16(encoding) ? "utf-8" : encoding);
  if (text.length <= LINE_CHARS && length <= bytes.length) return { text, cutAt: undefined };
  const cut = text.slice(0, LINE_CHARS);
  return { text: cut.isWellFormed() ? cut : cut.slice(0, -1), cutAt: length };
}
