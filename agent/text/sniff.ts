/** Detects what a file contains from its first bytes, never from its name. */
import { isUtf8 } from "node:buffer";
import { isUtf16, type TextEncoding } from "./encodings.ts";
import { olderEncodingOf } from "./older-encoding.ts";

export type Content =
  | { readonly kind: "text"; readonly encoding: TextEncoding; readonly bomBytes: number }
  | { readonly kind: "image"; readonly mediaType: string }
  | { readonly kind: "binary"; readonly mediaType: string };

/** A NUL within the first bytes, as many as this, makes a file binary. */
export const NUL_WITHIN = 8192;
/** How many bytes `sniff` needs, if there are as many. */
export const SNIFF_BYTES = 64 * 1024;

/** The bytes that `sniff` needs, cut between two characters. */
export function headOf(bytes: Buffer): Buffer {
  return bytes.length > SNIFF_BYTES ? withoutPart(bytes.subarray(0, SNIFF_BYTES)) : bytes;
}

export function sniff(head: Buffer): Content {
  const marked = byMark(head);
  if (marked) return marked;
  const format = formatOf(head);
  if (format) return format;
  if (head.subarray(0, NUL_WITHIN).includes(0))
    return { kind: "binary", mediaType: "application/octet-stream" };
  return { kind: "text", encoding: encodingOf(head), bomBytes: 0 };
}

/** Text in an encoding that the caller named, whatever the bytes look like. */
export function textIn(encoding: TextEncoding, head: Buffer): Extract<Content, { kind: "text" }> {
  const marked = byMark(head);
  if (marked?.kind !== "text") return { kind: "text", encoding, bomBytes: 0 };
  if (marked.encoding === "utf-8-bom" && encoding === "utf-8") return marked;
  const bomBytes = isUtf16(encoding) && marked.encoding === encoding ? marked.bomBytes : 0;
  return { kind: "text", encoding, bomBytes };
}

/**
 * UTF-8, or another encoding if the bytes are not UTF-8: one that is recognized for sure, else Latin-1, or Windows-1252 if
 * there are characters that only it has. A single damaged character among many good ones is still UTF-8. Cut an unfinished
 * text by `withoutPart` first.
 */
export function encodingOf(bytes: Buffer): TextEncoding {
  if (isUtf8(bytes)) return "utf-8";
  let good = 0;
  let damaged = 0;
  for (const character of bytes.toString("utf8")) {
    if (character === "\ufffd") damaged++;
    else if (character > "\x7f") good++;
  }
  if (good > damaged) return "utf-8";
  return olderEncodingOf(bytes) ?? (hasWindowsCharacters(bytes) ? "windows-1252" : "latin1");
}

/** Whether there are bytes that are characters in Windows-1252 but controls in Latin-1, and none that is undefined in both. */
function hasWindowsCharacters(bytes: Buffer): boolean {
  let found = false;
  for (const byte of bytes) {
    if (byte < 0x80 || byte > 0x9f) continue;
    if (byte === 0x81 || byte === 0x8d || byte === 0x8f || byte === 0x90 || byte === 0x9d) return false;
    found = true;
  }
  return found;
}

/** Removes an incomplete UTF-8 character at the end. */
export function withoutPart(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte >= 0xc0) {
      const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return back < wanted ? bytes.subarray(0, bytes.length - back) : bytes;
    }
  }
  return bytes;
}

function byMark(head: Buffer): Content | undefined {
  if (startsWith(head, [0xef, 0xbb, 0xbf])) return { kind: "text", encoding: "utf-8-bom", bomBytes: 3 };
  if (startsWith(head, [0xff, 0xfe, 0, 0]))
    return { kind: "binary", mediaType: "text/plain; charset=utf-32" };
  if (startsWith(head, [0xff, 0xfe])) return { kind: "text", encoding: "utf-16le", bomBytes: 2 };
  if (startsWith(head, [0xfe, 0xff])) return { kind: "text", encoding: "utf-16be", bomBytes: 2 };
  return undefined;
}

/** Detects a format by its signature. A text may begin with the same letters, but contains no control characters. */
function formatOf(head: Buffer): Exclude<Content, { kind: "text" }> | undefined {
  const image = imageType(head);
  const mediaType = image ?? binaryType(head);
  if (mediaType === undefined) return undefined;
  if (isPlainText(head) && !PDF_OF_TEXT.test(head.toString("latin1", 0, 16))) return undefined;
  return { kind: image ? "image" : "binary", mediaType };
}

/** A PDF may consist of text alone; then its first line has nothing but the signature. */
const PDF_OF_TEXT = /^%PDF-\d\.\d\s*[\r\n]/;
/** Control characters, except blanks, line ends and ESC. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]/;

function isPlainText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !CONTROL.test(bytes.toString("latin1"));
}

function imageType(head: Buffer): string | undefined {
  if (startsWith(head, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  if (startsWith(head, [0xff, 0xd8, 0xff])) return "image/jpeg";
  const text = head.toString("latin1", 0, 12);
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif";
  if (text.startsWith("RIFF") && text.slice(8) === "WEBP") return "image/webp";
  return undefined;
}

const BINARY: readonly [string, string][] = [
  ["%PDF-", "application/pdf"],
  ["PK\x03\x04", "application/zip"],
  ["PK\x05\x06", "application/zip"],
  ["\x1f\x8b", "application/gzip"],
  ["BZh", "application/x-bzip2"],
  ["\xfd7zXZ\x00", "application/x-xz"],
  ["\x28\xb5\x2f\xfd", "application/zstd"],
  ["7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"],
  ["Rar!\x1a\x07", "application/vnd.rar"],
  ["\x7fELF", "application/x-elf"],
  ["MZ\x90\x00", "application/vnd.microsoft.portable-executable"],
  ["\xcf\xfa\xed\xfe", "application/x-mach-binary"],
  ["\x00asm", "application/wasm"],
  ["SQLite format 3\x00", "application/vnd.sqlite3"],
  ["OggS", "audio/ogg"],
  ["ID3", "audio/mpeg"],
  ["fLaC", "audio/flac"],
  ["\x1aE\xdf\xa3", "video/matroska"],
  ["II*\x00", "image/tiff"],
  ["MM\x00*", "image/tiff"],
];

function binaryType(head: Buffer): string | undefined {
  const text = head.toString("latin1", 0, 16);
  const known = BINARY.find(([start]) => text.startsWith(start));
  if (known) return known[1];
  if (text.slice(4, 8) === "ftyp") return "video/mp4";
  if (text.startsWith("RIFF")) return text.slice(8, 12) === "WAVE" ? "audio/wav" : "video/x-msvideo";
  return undefined;
}

function startsWith(head: Buffer, bytes: readonly number[]): boolean {
  return head.length >= bytes.length && bytes.every((byte, index) => head[index] === byte);
}
